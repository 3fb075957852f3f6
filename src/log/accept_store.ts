/** Checks of a store that was just opened. Each rejects with `StoreRefusedError` if the store must not be used. */

import { HEAD_KEY, isLogKey, LOG_PREFIX, logKey } from "../keyspace.ts";
import { StoreRefusedError } from "../store/store_errors.ts";
import type { Store } from "../store/store.ts";
import { decodeHeadRecord, type Head, readHead } from "./head.ts";
import { linesOf } from "./read_log.ts";

/** Accepts a store with a head, and an empty store. */
export async function acceptLog(store: Store): Promise<void> {
  await acceptUnlessRestoring(store);
  // In this order, because another instance may write the first event meanwhile.
  if ((await store.list({ prefix: [] }, { limit: 1 })).length === 0) return;
  const entry = await store.get(HEAD_KEY);
  const record = decodeHeadRecord(entry?.value);
  if (record.kind === "head" && await isHeadBehind(store, record.head)) {
    throw new StoreRefusedError("its log has lines after the head record; run deno task audit");
  }
  if (record.kind !== "foreign") return;
  const damaged = "its head record is damaged, or not one of Animal Store; run deno task audit";
  if (entry !== null) throw new StoreRefusedError(damaged);
  if ((await store.list({ prefix: LOG_PREFIX }, { limit: 1 })).length > 0) {
    throw new StoreRefusedError("its head record is missing; run deno task audit");
  }
  throw new StoreRefusedError("it holds the data of another program");
}

/** Accepts any data but an unfinished restore and another format, so that a tool can examine it. */
export async function acceptUnlessRestoring(store: Store): Promise<void> {
  const record = decodeHeadRecord((await store.get(HEAD_KEY))?.value);
  if (record.kind === "other_format") throw new StoreRefusedError(record.message);
  if (record.kind !== "restore_mark") return;
  throw new StoreRefusedError(
    "a restore into it is under way or was interrupted; run it again to its end, with the same export",
  );
}

/** Whether the log has lines after the head, although nobody appends. Such a head was put back, or garbled. */
export async function isHeadBehind(store: Store, { position }: Head): Promise<boolean> {
  const range = { start: logKey(position + 1), end: logKey(Number.MAX_SAFE_INTEGER) };
  const [entry] = await store.list(range, { limit: 1 });
  if (entry === undefined || !isLogKey(entry.key)) return false;
  // If the lines do not follow, another program wrote the record.
  const [first] = linesOf(entry) ?? [];
  if (first === undefined || first.position > position + 1) return false;
  // An append stores its lines and a new head in one commit.
  return (await readHead(store)).head.position <= position;
}
