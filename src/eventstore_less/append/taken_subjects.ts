/** Which commands of a plan would add the first event of a subject that has events already. */

import type { Application } from "../application.ts";
import type { Head, ProjectionKey } from "../definitions.ts";
import { projectionKey } from "../keyspace.ts";
import type { Store } from "../store/store.ts";
import { type Member, notFirstError, type Plan } from "./batch.ts";
import type { InvalidEventError } from "./storable_data.ts";
import type { QueuedCommand } from "./queued_command.ts";

/** The first event of a subject that its command does not name, so that the command has not looked whether there are others. */
interface FirstEvent {
  queued: QueuedCommand;
  type: string;
  subject: string;
  /** The records that the subject would have. */
  keys: readonly ProjectionKey[];
}

/**
 * The error for each command of a plan with an event that is not the first one of its subject, although its type says so.
 * Reads the records as of the base of the plan, or later: then the plan is not confirmed.
 */
export async function takenSubjects(
  application: Application,
  store: Store,
  { base: { head }, batch }: Plan,
): Promise<Map<QueuedCommand, InvalidEventError>> {
  const taken = new Map<QueuedCommand, InvalidEventError>();
  const firstEvents = firstEventsOf(application, batch?.members ?? []);
  if (firstEvents.length === 0) return taken;
  const areThere = await Promise.all(firstEvents.map(({ keys }) => isAnyThere(store, head, keys)));
  for (const [index, { queued, type, subject }] of firstEvents.entries()) {
    if (areThere[index]) taken.set(queued, notFirstError(type, subject));
  }
  return taken;
}

function firstEventsOf(application: Application, members: readonly Member[]): FirstEvent[] {
  const found: FirstEvent[] = [];
  for (const { queued, fate: { lines } } of members) {
    for (const { event: { type }, subject } of lines) {
      const { isFirst, keysOf } = application.events[type];
      if (!isFirst || subject === queued.command.subject) continue;
      const keys = keysOf(subject.slice(subject.indexOf("/") + 1));
      if (keys.length > 0) found.push({ queued, type, subject, keys });
    }
  }
  return found;
}

async function isAnyThere(
  store: Store,
  { generation }: Head,
  keys: readonly ProjectionKey[],
): Promise<boolean> {
  const entries = await Promise.all(keys.map((key) => store.get(projectionKey(generation, key))));
  return entries.some((entry) => entry !== null);
}
