/** The numbers on the tabs: read once, then kept up by events. */

import { signal } from "@preact/signals";
import type { PetStatus } from "../../events/pet.ts";
import { request } from "./api.ts";
import { isPetEvent, petIdOf, type StoreEvent } from "./events.ts";
import { eventsAfter } from "./feed.ts";
import { isInTab, type Tab, TABS } from "./filter.ts";

/** The numbers of animals by tabs; a tab without a number is not counted yet. */
export const counts = signal<Partial<Record<Tab, number>>>({});

/** The position at which each tab was counted. */
const countedAt = new Map<Tab, string>();

/** Counts the animals of each tab. */
export async function countTabs(): Promise<void> {
  await Promise.all(TABS.map(({ tab }) => countTab(tab)));
}

async function countTab(tab: Tab): Promise<void> {
  for (;;) {
    const query = tab === "" ? "" : `&status=${tab}`;
    const { headers } = await request(`pets?limit=1${query}`);
    const position = headers.get("x-feed-position") ?? "";
    const later = eventsAfter(position);
    // Too much happened meanwhile.
    if (later === undefined) continue;
    countedAt.set(tab, position);
    const total = Number(headers.get("x-total-count"));
    counts.value = { ...counts.value, [tab]: total + differenceOf(tab, later) };
    return;
  }
}

/** Updates the numbers after some more events. An event of an animal of an unknown type may change any of them. */
export function updateCounts(events: readonly StoreEvent[]): void {
  const after = { ...counts.value };
  for (const [tab, position] of countedAt) {
    const later = events.filter(({ id }) => id > position);
    after[tab] = (after[tab] ?? 0) + differenceOf(tab, later);
  }
  counts.value = after;
  const isUnknown = events.some((event) => !isPetEvent(event) && petIdOf(event) !== undefined);
  if (isUnknown) countTabs().catch(() => {});
}

/** The difference that some events make to the number of animals of a tab. */
function differenceOf(tab: Tab, events: readonly StoreEvent[]): number {
  const has = (status: PetStatus | undefined) => isInTab(tab, status) ? 1 : 0;
  let difference = 0;
  for (const event of events) {
    if (!isPetEvent(event)) continue;
    const { type, data } = event;
    if (type === "PetCreated") difference += has(data.status);
    else if (type === "PetRemoved") difference -= has(data.status);
    else if ("status" in data.previous) {
      difference += has(data.status) - has(data.previous.status ?? undefined);
    }
  }
  return difference;
}
