import type { Application } from "../application.ts";
import { acceptLog } from "../log/accept_store.ts";
import { readHead } from "../log/head.ts";
import { readEventAt } from "../log/read_log.ts";
import { reasonOf } from "../runtime/logger.ts";
import { OpenStoreError } from "../store/open_store_error.ts";
import type { Store } from "../store/store.ts";
import { StoreRefusedError } from "../store/store_errors.ts";
import { openToRead, storeLocationOf } from "./open_to_read.ts";
import { type ConsumerReport, readGroups, reportConsumers } from "../consumers/consumer_report.ts";
import { type AuditRun, type BackupRun, readLastRuns } from "./last_runs.ts";
import { type StoreFacts, storeFacts } from "./store_facts.ts";
import { summaryOf } from "./summary_of.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";

/** The end of the log of a store, the last runs of its audit and its backup, and facts about a store at a location. */
export interface StoreStatus extends StoreFacts {
  /** The position of the newest event; 0 without one. */
  position: number;
  /** The time of the newest event, in UTC. */
  newestEventAt?: string;
  /** What the application counts. */
  summary: Record<string, number>;
  /** The consumers that the store knows; absent without one. */
  consumers?: ConsumerReport[];
  /** The last audit. */
  audit?: AuditRun;
  /** The last backup. */
  backup?: BackupRun & {
    /** The number of events that it lacks. */
    lacks: number;
    /** The time of the first event that it lacks, in UTC. */
    lacksSince?: string;
  };
}

/**
 * Reads how a store is: in a moment, because it reads no more of the log than its end. Rejects with `StoreRefusedError` or
 * `OpenStoreError` if the store cannot be used.
 *
 * ```ts
 * const { position, audit, backup } = await status(store);
 * ```
 */
export async function status(log: ToolStore | StoreAt): Promise<StoreStatus> {
  using reader = await openToRead(log);
  const { application, store } = reader;
  await expectUsable(log, store);
  // These are read first, so that neither a backup nor a consumer has more events than the log.
  const { audit, backup } = await readLastRuns(store);
  const groups = await readGroups(store);
  const { head } = await readHead(application, store);
  const { position } = head;
  const newestEventAt = await timeOfEvent(application, store, position);
  const facts = "location" in log ? await storeFacts(log) : {};
  const consumers = reportConsumers(groups, head);
  const found: StoreStatus = {
    position,
    newestEventAt,
    summary: summaryOf(application, head),
    audit,
    ...facts,
  };
  if (consumers.length > 0) found.consumers = consumers;
  if (backup === undefined) return found;
  const lacks = Math.max(0, position - backup.position);
  const lacksSince = lacks === 0
    ? undefined
    : await timeOfEvent(application, store, backup.position + 1);
  return { ...found, backup: { ...backup, lacks, lacksSince } };
}

async function expectUsable(log: ToolStore | StoreAt, store: Store): Promise<void> {
  try {
    await acceptLog(log.application, store);
  } catch (error) {
    const isRefused = error instanceof StoreRefusedError && "location" in log;
    throw isRefused ? new OpenStoreError(storeLocationOf(log), reasonOf(error)) : error;
  }
}

/** The time of the event at a position; `undefined` if there is none that can be read. */
async function timeOfEvent(
  application: Application,
  store: Store,
  position: number,
): Promise<string | undefined> {
  if (position === 0) return undefined;
  return (await readEventAt(application, store, position))?.event.time;
}
