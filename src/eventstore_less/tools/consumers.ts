/** Operators read the places of consumers, and name the place from which a consumer continues. */

import { fullGroupReason, placeAt } from "../consumers/consumer_group.ts";
import {
  CONSUMER_NAME,
  decodeConsumerRecord,
  encodeConsumerRecord,
  groupOf,
  newRecord,
  placeIn,
  withPlace,
} from "../consumers/consumer_record.ts";
import { type ConsumerReport, readConsumersOf } from "../consumers/consumer_report.ts";
import { consumersKey } from "../keyspace.ts";
import { readHead } from "../log/head.ts";
import { acceptFilledLog } from "../log/accept_store.ts";
import type { StoreEntry } from "../store/store.ts";
import { commitGuarded } from "./guarded/commit_guarded.ts";
import { openToRead, patientStore } from "./open_to_read.ts";
import { ToolError } from "./tool_error.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";

/** Maximum number of attempts to name a place. An attempt fails if the working instance writes the record meanwhile. */
const ATTEMPTS = 20;

/** The consumers that have a place in the store or were found to be stopped, by their names. */
export async function readConsumers(log: ToolStore | StoreAt): Promise<ConsumerReport[]> {
  using reader = await openToRead(log);
  return await readConsumersOf(reader.application, reader.store);
}

/**
 * Lets a consumer continue after a position, also while an instance works. Rejects with `ToolError`: `not_found` if the log
 * has no such position or no consumer can have the name, `group_full` if the group has no room for a further place.
 */
export async function placeConsumer(
  tool: ToolStore,
  name: string,
  position: number,
): Promise<void> {
  const { application, runtime } = tool;
  const store = patientStore(tool);
  if (!CONSUMER_NAME.test(name)) {
    throw new ToolError("not_found", `A consumer cannot have the name ${JSON.stringify(name)}`);
  }
  await acceptFilledLog(application, store);
  const { head } = await readHead(application, store);
  const place = await placeAt(application, store, position, head);
  if (place === undefined) {
    const message = `The log has no position ${position}: it ends at ${head.position}`;
    throw new ToolError("not_found", message);
  }
  const group = groupOf(name);
  const key = consumersKey(group);
  const named = runtime.newId();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const entry = await store.get(key);
    const found = decodeConsumerRecord(entry) ?? newRecord(head);
    const next = withPlace(found, name, { ...place, named });
    if (next === undefined) throw new ToolError("group_full", fullGroupReason(group));
    const value = encodeConsumerRecord(group, { ...next, write: found.write + 1 }).slice();
    const guard = { key, versionstamp: entry?.versionstamp ?? null };
    const isOurs = (stored: StoreEntry | null) => {
      const record = decodeConsumerRecord(stored);
      return record !== undefined && placeIn(record, name)?.named === named;
    };
    const commit = { guard, mutations: [{ type: "set" as const, key, value }] };
    if (await commitGuarded(store, runtime, commit, isOurs) !== undefined) return;
  }
  throw new ToolError(
    "head_contended",
    `The record of ${name} changed at every attempt: try again`,
  );
}
