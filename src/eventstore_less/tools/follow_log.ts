import { ForeignStoreError } from "../log/head.ts";
import { HeadLostError, type HeadReader } from "../log/head_reader.ts";
import { readLog, type StoredLine } from "../log/read_log.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { serviceErrorCode } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import { StoreRefusedError } from "../store/store_errors.ts";

/** Interval at which the head is read while the log does not grow. */
export const FOLLOW_INTERVAL_MS = 200;

/** Errors that waiting does not end. */
const LASTING_ERRORS = [HeadLostError, ForeignStoreError, StoreRefusedError];

export interface FollowDeps {
  /** A store with a time limit on every call. */
  store: Store;
  heads: HeadReader;
  runtime: Runtime;
  /** Called once with `false` and the reason if the store is away, and once with `true` when it is back. */
  reachable: (isThere: boolean, reason?: string) => void;
}

export interface FollowRange {
  from: number;
  /** The last position to read; without it, reading continues until the signal aborts. */
  to?: number;
  signal: AbortSignal;
}

/**
 * Reads the stored lines from a position, in batches and in order, then the new ones of any instance. Polls the head,
 * because KV's `watch` does not work across processes. Waits while the store is away. Throws `HeadLostError` if another
 * store has replaced the previous one, `LogDamagedError`, and `StoreRefusedError`.
 */
export async function* followLog(
  { store, heads, runtime, reachable }: FollowDeps,
  { from, to = Infinity, signal }: FollowRange,
): AsyncGenerator<StoredLine[]> {
  let next = from;
  let failures = 0;
  while (next <= to && !signal.aborted) {
    try {
      const { position } = (await heads.fresh()).head;
      for await (const batch of readLog(store, { from: next, to: Math.min(position, to) })) {
        yield batch;
        next = batch.at(-1)!.position + 1;
        if (signal.aborted) return;
      }
      if (failures > 0) reachable(true);
      failures = 0;
    } catch (error) {
      const isLasting = LASTING_ERRORS.some((it) => error instanceof it);
      if (isLasting || serviceErrorCode(error) !== "store_unavailable") throw error;
      failures++;
      if (failures === 1) reachable(false, (error as Error).message);
    }
    if (next > to) return;
    await sleep(runtime, failures === 0 ? FOLLOW_INTERVAL_MS : backoffMs(runtime, failures));
  }
}
