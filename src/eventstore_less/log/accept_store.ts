/** Checks of a store that was just opened. Each rejects with `StoreRefusedError` if the store must not be used. */

import type { Application } from "../application.ts";
import type { Head, RecordedEvent } from "../definitions.ts";
import { words } from "../words.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import {
  GROUPS_LIMIT,
  HEAD_KEY,
  isConsumersKey,
  isLogKey,
  LOG_PREFIX,
  logKey,
} from "../keyspace.ts";
import { noStoreReason, StoreRefusedError } from "../store/store_errors.ts";
import type { Store } from "../store/store.ts";
import { decodeHeadRecord, EMPTY_HEAD, readHead } from "./head.ts";
import { linesOf, readEventAt } from "./read_log.ts";

/**
 * Accepts a store to which events can be appended: {@linkcode acceptLog} accepts it, and its head follows from the end
 * of the log.
 */
export async function acceptAppends(application: Application, store: Store): Promise<void> {
  await acceptLog(application, store);
  const { head } = await readHead(application, store);
  // A wrong head would break the chain of hashes with the next commit, or give a subject the number of another one.
  const fault = await faultOfHead(application, store, head);
  if (fault === undefined) return;
  throw new StoreRefusedError(`its head record is wrong: ${fault}; run ${words().audit}`);
}

/** Accepts a store with a head, and one that is unused. */
export async function acceptLog(application: Application, store: Store): Promise<void> {
  await acceptUnlessRestoring(application, store);
  // This read comes first, because another instance may write the first event meanwhile.
  if (await isUnused(store)) return;
  const entry = await store.get(HEAD_KEY);
  const record = decodeHeadRecord(application, entry?.value);
  if (record.kind === "head" && await isHeadBehind(application, store, record.head)) {
    const reason = "its log has lines after the head record";
    throw new StoreRefusedError(`${reason}; run ${words().audit}`);
  }
  if (record.kind !== "foreign") return;
  const advice = `run ${words().audit}`;
  const damaged = `its head record is damaged, or not one of ${application.name}; ${advice}`;
  if (entry !== null) throw new StoreRefusedError(damaged);
  const [anyLine] = await store.list({ prefix: LOG_PREFIX }, { limit: 1 });
  if (anyLine !== undefined) {
    throw new StoreRefusedError(`its head record is missing; ${advice}`);
  }
  throw new StoreRefusedError("it holds the data of another program");
}

/** Whether a store holds nothing, or only what its consumers write before the first event. */
export async function isUnused(store: Store): Promise<boolean> {
  const [first] = await store.list({ prefix: [] }, { limit: 1 });
  if (first === undefined) return true;
  if (!isConsumersKey(first.key)) return false;
  const entries = await store.list({ prefix: [] }, { limit: GROUPS_LIMIT + 1 });
  return entries.length <= GROUPS_LIMIT && entries.every(({ key }) => isConsumersKey(key));
}

/** Accepts a store as {@linkcode acceptAppends} does, if its log has events. */
export async function acceptFilledLog(application: Application, store: Store): Promise<void> {
  await acceptAppends(application, store);
  const { position } = (await readHead(application, store)).head;
  if (position === 0) throw new StoreRefusedError(noStoreReason("it has no events"));
}

/** Accepts any data but an unfinished restore and what another application, format or release wrote, so that a tool can examine it. */
export async function acceptUnlessRestoring(application: Application, store: Store): Promise<void> {
  const entry = await store.get(HEAD_KEY);
  const record = decodeHeadRecord(application, entry?.value);
  if (record.kind === "refused") throw new StoreRefusedError(record.message);
  if (record.kind !== "restore_mark") return;
  throw new StoreRefusedError(
    "a restore into it is under way or was interrupted; run it again to its end, with the same export",
  );
}

/** The reason why a head does not follow from the log, judged by the last line of each type. */
async function faultOfHead(
  application: Application,
  store: Store,
  head: Head,
): Promise<string | undefined> {
  const { position, lastHash, types } = head;
  if (position === 0) {
    const isEmpty = lastHash === EMPTY_HEAD.lastHash && Object.keys(types).length === 0;
    return isEmpty ? undefined : "it names events, but the log has none";
  }
  const last = await readEventAt(application, store, position);
  if (last === undefined) return `the log has no sound line at position ${position}`;
  if (sha256Hex(last.line) !== lastHash) return "it does not have the hash of the last line";
  const lastEvents = new Map<string, RecordedEvent>();
  for (const [type, summary] of Object.entries(types)) {
    const at = summary!.last;
    const found = at === position ? last : await readEventAt(application, store, at);
    if (found?.event.type !== type) return `position ${at} of the log has no ${type}`;
    lastEvents.set(found.event.type, found.event);
  }
  if (types[last.event.type]?.last !== position) {
    return "it does not have the type of the last line";
  }
  const countOfEvents = Object.values(types).reduce((sum, it) => sum + it!.count, 0);
  if (countOfEvents !== position) return `it counts ${countOfEvents} events of ${position}`;
  for (const collection of application.collections) {
    const fault = collection.faultOfHead?.(head, lastEvents);
    if (fault !== undefined) return fault;
  }
}

/** Whether the log has lines after the head although nobody appends. Then the head is an older copy, or damaged. */
export async function isHeadBehind(
  application: Application,
  store: Store,
  { position }: Head,
): Promise<boolean> {
  const range = { start: logKey(position + 1), end: logKey(Number.MAX_SAFE_INTEGER) };
  const [entry] = await store.list(range, { limit: 1 });
  if (entry === undefined || !isLogKey(entry.key)) return false;
  // If the lines do not follow, another program wrote the record.
  const [first] = linesOf(entry) ?? [];
  if (first === undefined || first.position > position + 1) return false;
  // An append stores its lines and a new head in one commit.
  return (await readHead(application, store)).head.position <= position;
}
