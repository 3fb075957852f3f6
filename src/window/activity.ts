/** The last 24 hours: the number of events of each kind in each hour. */

import { batch, signal } from "@preact/signals";
import { type Reply, request } from "./api.ts";
import { kindOf, KINDS, petIdOf, type StoreEvent } from "./events.ts";
import { rememberEvents } from "./feed.ts";

export const HOUR_MS = 3_600_000;

const BATCH_LENGTH = 1_000;
const BATCHES_MAX = 20;

/**
 * The number of events of animals of each kind, in the order of {@linkcode KINDS}, by the hour since the Unix epoch. Until
 * {@linkcode isDayLoaded}, some are missing.
 */
export const hours = signal<Readonly<Record<number, readonly number[]>>>({});

/** Whether the last day had more events than the page counts. */
export const isDayCut = signal(false);

/** Whether the events of the last day are read. */
export const isDayLoaded = signal(false);

/** Reads the events of the last day up to a position. */
export async function loadLastDay(position: string): Promise<void> {
  const since = new Date(Date.now() - 24 * HOUR_MS).toISOString();
  let path: string | undefined = `events?limit=${BATCH_LENGTH}&since=${since}`;
  for (let count = 0; path !== undefined; count++) {
    if (count === BATCHES_MAX) {
      isDayCut.value = true;
      break;
    }
    const reply: Reply<StoreEvent[]> = await request(path);
    const events = reply.body.filter(({ id }) => id <= position);
    batch(() => {
      rememberEvents(events);
      countEvents(events);
    });
    path = events.length === 0 ? undefined : reply.nextPage;
  }
  isDayLoaded.value = true;
}

/** Counts some more events. Those of the names of categories change no animal. */
export function countEvents(events: readonly StoreEvent[]): void {
  const after: Record<number, readonly number[]> = { ...hours.value };
  for (const event of events.filter((it) => petIdOf(it) !== undefined)) {
    const hour = Math.floor(Date.parse(event.time) / HOUR_MS);
    const kind = KINDS.indexOf(kindOf(event));
    const numbers = after[hour] ?? KINDS.map(() => 0);
    after[hour] = numbers.with(kind, numbers[kind] + 1);
  }
  hours.value = after;
}

export function forgetDay(): void {
  hours.value = {};
  isDayCut.value = false;
  isDayLoaded.value = false;
}
