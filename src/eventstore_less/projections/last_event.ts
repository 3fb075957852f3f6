/** The last event of a subject, which the record of its state names, and the line of which proves the record. */

import type { Application } from "../application.ts";
import type { Body, Head, ProjectionKey, Recorded } from "../definitions.ts";
import { projectionKey } from "../keyspace.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { contentOf, proveRecord } from "./project.ts";
import { positionIn } from "./record_content.ts";

/**
 * The keys of the records that hold the state of a subject such as `bookings/7`; none if the id cannot be one, which
 * clients may send. Throws `TypeError` if it begins with no collection.
 */
export function keysOfSubject(
  application: Application,
  subject: string,
): readonly ProjectionKey[] {
  const slash = subject.indexOf("/");
  const name = subject.slice(0, slash);
  const id = subject.slice(slash + 1);
  const collection = application.collections.find((it) => it.name === name);
  if (slash === -1 || collection === undefined) {
    throw new TypeError(`${JSON.stringify(subject)} begins with no collection of the application`);
  }
  return collection.isId(id) ? collection.keysOf(id) : [];
}

/**
 * The last event of the subject whose state is under some keys; `undefined` if none of these has a record. Rejects with
 * `projection_damaged` unless each record follows from the event that it names.
 */
export async function readLastEvent<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  { generation }: Head,
  keys: readonly ProjectionKey[],
): Promise<Recorded<EventBody> | undefined> {
  const entries = await Promise.all(keys.map((key) => store.get(projectionKey(generation, key))));
  const found = entries.filter((entry) => entry !== null);
  const events = await Promise.all(found.map((entry) => {
    return proveRecord(application, store, entry, expectPosition(application, entry));
  }));
  return events.sort((one, other) => one.position - other.position).at(-1);
}

function expectPosition(application: Application, entry: StoreEntry): number {
  const position = positionIn(contentOf(application, entry));
  if (position !== undefined) return position;
  const [, , ...key] = entry.key;
  const advice = "a command can decide on a record only if its content is recordOf(recorded)";
  throw new TypeError(`The record ${JSON.stringify(key)} does not name its event: ${advice}`);
}
