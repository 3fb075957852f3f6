import type { Store } from "../store/store.ts";
import { readLog } from "./read_log.ts";

/** A stored line that is at its place and made of bytes; whether it is sound is for an audit to say. */
export interface WholeLine {
  position: number;
  value: Uint8Array;
}

/** What is stored is not the whole log; the message names the first position that is not there. */
export class LogDamagedError extends Error {
  constructor(position: number, fault: string) {
    super(`Position ${position} of the log ${fault}; an audit tells more`);
    this.name = "LogDamagedError";
  }
}

/**
 * The lines from one position to another, both included and not beyond the head, in batches and in
 * order. Throws `LogDamagedError` where one is missing: what is not the whole log must not pass for it.
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
      if (!(value instanceof Uint8Array)) throw new LogDamagedError(due, "holds no line");
      due++;
    }
    yield batch as WholeLine[];
  }
  if (due <= to) throw new LogDamagedError(due, "is missing");
}
