/** The numbers on the tabs. */

import { signal } from "@preact/signals";
import { type Tab, TABS } from "./filter.ts";
import { Query, readNow } from "./queries.ts";

/** Six requests, so not after each batch of events. */
const PAUSE_MS = 1_000;

/** The numbers of animals by tabs, and of the removed ones; none before they are counted. */
export const counts = signal<Partial<Record<Tab | "removed", number>>>({});

export const countsQuery = new Query(async () => {
  const all = TABS.map(({ tab }) => countOf(tab, tab === "" ? "" : `&status=${tab}`));
  const removed = countOf("removed", "&removed=true");
  counts.value = Object.fromEntries(await Promise.all([...all, removed]));
}, PAUSE_MS);

async function countOf(name: string, query: string): Promise<[string, number]> {
  const { headers } = await readNow(`pets?limit=1${query}`);
  return [name, Number(headers.get("x-total-count"))];
}
