/** The last events of the store. The page reads them when somebody wants to see them, and follows them from then on. */

import { signal } from "@preact/signals";
import { request } from "../data/api.ts";
import type { StoreEvent } from "../data/events.ts";

/** Number of events that are shown at first. */
const SHOWN = 100;
/** More than are shown, so that the page knows whether there are older ones. */
const READ = 200;
/** How many more are read at once when somebody wants older ones: the limit of the interface. */
const READ_OLDER = 1_000;

interface Activity {
  /** The newest one first. */
  events: readonly StoreEvent[];
  hasOlder: boolean;
}

/** `undefined` until it is read. */
export const activity = signal<Activity | undefined>(undefined);

/** Events that came while the last ones are read; `undefined` while nobody wants them. */
let news: readonly StoreEvent[] | undefined;

export async function loadActivity(): Promise<void> {
  news = [];
  const events = newestFirst([...await read(READ, READ), ...news]);
  activity.value = { events: events.slice(0, SHOWN), hasOlder: events.length > SHOWN };
}

/** Reads events that are older than the shown ones. */
export async function loadOlderActivity(): Promise<void> {
  const shown = activity.value?.events ?? [];
  if (shown.length === 0) return;
  const newest = positionOf(shown[0]);
  const distance = newest - positionOf(shown.at(-1)!) + READ_OLDER;
  const older = await read(distance, READ_OLDER);
  const events = newestFirst([...older, ...activity.value?.events ?? []]);
  activity.value = { events, hasOlder: distance < newest };
}

/** Takes events of the stream. */
export function followActivity(events: readonly StoreEvent[]): void {
  if (news === undefined) return;
  if (activity.value === undefined) news = [...news, ...events];
  else {activity.value = {
      ...activity.value,
      events: newestFirst([...activity.value.events, ...events]),
    };}
}

/** Forgets everything, because the service has another log. */
export function forgetActivity(): void {
  news = undefined;
  activity.value = undefined;
}

/** Reads the first events of the last entries of the log. */
async function read(lastEntries: number, limit: number): Promise<StoreEvent[]> {
  const path = `events?actors=true&lastEventId=now-${lastEntries}&limit=${limit}`;
  return (await request<StoreEvent[]>(path)).body;
}

function positionOf({ id }: StoreEvent): number {
  return Number(id.split("-")[0]);
}

/** Each event once. */
function newestFirst(events: readonly StoreEvent[]): StoreEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : -1);
}
