// The numbers on the tabs.

import { request, wait } from "./api.js";
import { setState, state } from "./state.js";
import { TAB_LABELS } from "./statuses.js";

const PAUSE_MS = 250;

/** Counts the animals of each tab, and again after events. Does not end. */
export async function keepCounts() {
  let countedAt;
  for (;;) {
    if (countedAt !== state.position) {
      countedAt = state.position;
      await countTabs();
    }
    await wait(PAUSE_MS);
  }
}

async function countTabs() {
  for (const status of Object.keys(TAB_LABELS)) {
    const filter = status === "" ? "" : `&status=${status}`;
    const { headers } = await request(`pets?limit=1${filter}`);
    const total = Number(headers.get("x-total-count"));
    setState({ counts: { ...state.counts, [status]: total } });
  }
}
