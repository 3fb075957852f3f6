/** The consumers of all groups, as the store knows them. */

import type { Application } from "../application.ts";
import type { Head } from "../definitions.ts";
import { CONSUMERS_PREFIX, GROUPS_LIMIT } from "../keyspace.ts";
import { readHead } from "../log/head.ts";
import type { Store } from "../store/store.ts";
import {
  type ConsumerRecord,
  decodeConsumerRecord,
  type Failing,
  placeIn,
} from "./consumer_record.ts";

/** A consumer that the store knows. */
export interface ConsumerReport {
  /** Its name. */
  name: string;
  /** The position of the last event that it has handled or passed, as it was stored last. One that is stopped may have none. */
  position?: number;
  /** Number of events after it; without a position, that of all events. */
  lag: number;
  /** The failures of its handler at the next event. */
  failing?: Failing;
  /** Whether an instance works for it, or did until it ended. */
  hasHolder: boolean;
  /** Whether it waits for an operator to name a place, as after a restore. */
  isStopped: boolean;
}

/** The consumers that have a place in a store or were found to be stopped, by their names. */
export async function readConsumersOf(
  application: Application,
  store: Store,
): Promise<ConsumerReport[]> {
  const groups = await readGroups(store);
  const { head } = await readHead(application, store);
  return reportConsumers(groups, head);
}

/** The records of all groups of consumers. */
export async function readGroups(store: Store): Promise<ConsumerRecord[]> {
  const entries = await store.list({ prefix: CONSUMERS_PREFIX }, { limit: GROUPS_LIMIT });
  return entries.flatMap((entry) => decodeConsumerRecord(entry) ?? []);
}

/** The consumers of some groups, as of a head that was read later. */
export function reportConsumers(
  groups: readonly ConsumerRecord[],
  { position: end }: Head,
): ConsumerReport[] {
  return groups.flatMap((group) => {
    const names = new Set([...Object.keys(group.places), ...group.stopped ?? []]);
    return [...names].sort().map((name) => reportOf(group, name, end));
  });
}

function reportOf(group: ConsumerRecord, name: string, end: number): ConsumerReport {
  const { position, failing } = placeIn(group, name) ?? {};
  const lag = Math.max(0, end - (position ?? 0));
  const hasHolder = group.holder !== undefined;
  const isStopped = group.stopped?.includes(name) ?? false;
  return { name, position, lag, failing, hasHolder, isStopped };
}
