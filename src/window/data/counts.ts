/** The numbers on the tabs. */

import { signal } from "@preact/signals";
import { type Tab, TABS } from "./filter.ts";
import { Query, readNow } from "./queries.ts";

/** Five requests, so not after each batch of events. */
const PAUSE_MS = 1_000;

/** The numbers of animals by tabs; none before they are counted. */
export const counts = signal<Partial<Record<Tab, number>>>({});

export const countsQuery = new Query(async () => {
  const all = TABS.map(async ({ tab }) => {
    const query = tab === "" ? "" : `&status=${tab}`;
    const { headers } = await readNow(`pets?limit=1${query}`);
    return [tab, Number(headers.get("x-total-count"))];
  });
  counts.value = Object.fromEntries(await Promise.all(all));
}, PAUSE_MS);
