/** Checks of a store that was just opened. Each rejects with `StoreRefusedError` if the store must not be used. */

import { HEAD_KEY, LOG_PREFIX } from "../keyspace.ts";
import { StoreRefusedError } from "../store/store_errors.ts";
import type { Store } from "../store/store.ts";
import { decodeHeadRecord } from "./head.ts";
import { isHeadBehind } from "./is_head_behind.ts";

/** Accepts a store with a head, and an empty store. */
export async function acceptLog(store: Store): Promise<void> {
  await acceptUnlessRestoring(store);
  // In this order, because another instance may write the first event meanwhile.
  const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
  if (isEmpty) return;
  const entry = await store.get(HEAD_KEY);
  if (entry !== null) {
    const record = decodeHeadRecord(entry.value);
    if (record.kind === "foreign") {
      throw new StoreRefusedError(
        "its head record is not one of Animal Store; run deno task audit",
      );
    }
    if (record.kind !== "head" || !await isHeadBehind(store, record.head)) return;
    throw new StoreRefusedError("its log has lines after the head record; run deno task audit");
  }
  const isLog = (await store.list({ prefix: LOG_PREFIX }, { limit: 1 })).length > 0;
  throw new StoreRefusedError(
    isLog
      ? "its head record is missing; run deno task audit"
      : "it holds the data of another program",
  );
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
