/** The events of the last hour, which the page reads when it opens. */

import { signal } from "@preact/signals";
import { type Reply, request } from "../data/api.ts";
import type { StoreEvent } from "../data/events.ts";
import { rememberEvents } from "../data/feed.ts";

const HOUR_MS = 3_600_000;
const BATCH_LENGTH = 1_000;

/** Whether they are read. */
export const isHourLoaded = signal(false);

/** Reads the events of the last hour up to a position. */
export async function loadLastHour(position: string): Promise<void> {
  const since = new Date(Date.now() - HOUR_MS).toISOString();
  let path: string | undefined = `events?limit=${BATCH_LENGTH}&since=${since}`;
  while (path !== undefined) {
    const reply: Reply<StoreEvent[]> = await request(path);
    const events = reply.body.filter(({ id }) => id <= position);
    rememberEvents(events);
    path = events.length === 0 ? undefined : reply.nextPage;
  }
  isHourLoaded.value = true;
}
