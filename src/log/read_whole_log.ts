import type { Store } from "../store/store.ts";
import { readLog } from "./read_log.ts";

/** A stored line of bytes at the expected position. Only an audit checks its content. */
export interface WholeLine {
  position: number;
  value: Uint8Array;
}

/** The stored log is incomplete. The message names the first position that is missing or not a line. */
export class LogDamagedError extends Error {
  constructor(position: number, fault: string) {
    super(`Position ${position} of the log ${fault}; run deno task audit`);
    this.name = "LogDamagedError";
  }
}

/**
 * Reads the lines from one position to another, in batches and in order. Both are inclusive and must not
 * be beyond the head. Throws `LogDamagedError` if a line is missing or is not bytes, so that nobody
 * mistakes an incomplete log for a complete one.
 */
export async function* readWholeLog(
  store: Store,
  { from, to }: { from: number; to: number },
): AsyncGenerator<WholeLine[]> {
  if (from > to) return;
  let due = from;
  for await (const batch of readLog(store, { from, to })) {
    for (const { position, value } of batch) {
      if (position !== due) throw new LogDamagedError(due, "is missing");
      if (!(value instanceof Uint8Array)) throw new LogDamagedError(due, "is not a line");
      due++;
    }
    yield batch as WholeLine[];
  }
  if (due <= to) throw new LogDamagedError(due, "is missing");
}
