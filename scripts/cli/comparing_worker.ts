/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread of {@linkcode ComparingThread}: reads the configured store, and writes nothing. */

import { acceptUnlessRestoring } from "../../src/log/accept_store.ts";
import { matchesStore, type PackedRecords } from "../../src/maintenance/packed_records.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import type { ComparisonRequest, ComparisonResult } from "./comparing_thread.ts";
import { openRetryingStore } from "./open_retrying_store.ts";

const opening = openRetryingStore({ accept: acceptUnlessRestoring });
// resultOf() reports a failure to the caller.
opening.catch(() => {});

self.onmessage = async ({ data: { id, expected } }: MessageEvent<ComparisonRequest>) => {
  self.postMessage(await resultOf(id, expected));
};

async function resultOf(id: number, expected: PackedRecords[]): Promise<ComparisonResult> {
  try {
    return { id, matchesStore: await matchesStore(await opening, expected) };
  } catch (error) {
    return { id, reason: reasonOf(error) };
  }
}
