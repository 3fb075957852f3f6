/** The last events of the store. The page reads them when somebody wants to see them, and follows them from then on. */

import { signal } from "@preact/signals";
import { request } from "../data/api.ts";
import type { StoreEvent } from "../data/events.ts";

/** Of a run that begins before the shown events, the page does not know the length. */
const SHOWN = 100;
/** More than are shown, so that the page knows whether there are older ones. */
const READ = 200;

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
  const { body } = await request<StoreEvent[]>(
    `events?actors=true&lastEventId=now-${READ}&limit=${READ}`,
  );
  show([...body, ...news]);
}

/** Takes events of the stream. */
export function followActivity(events: readonly StoreEvent[]): void {
  if (activity.value !== undefined) show([...activity.value.events, ...events]);
  else if (news !== undefined) news = [...news, ...events];
}

/** Forgets everything, because the service has another log. */
export function forgetActivity(): void {
  news = undefined;
  activity.value = undefined;
}

/** Shows the newest of some events, each once. */
function show(events: readonly StoreEvent[]): void {
  const byId = new Map(events.map((event) => [event.id, event]));
  const newestFirst = [...byId.values()].sort((a, b) => a.id < b.id ? 1 : -1);
  const hasOlder = activity.value?.hasOlder || newestFirst.length > SHOWN;
  activity.value = { events: newestFirst.slice(0, SHOWN), hasOlder };
}
