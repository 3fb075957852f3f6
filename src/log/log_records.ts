import { packLines, unpackLines } from "../encoding/pack_lines.ts";
import { LOG_RECORD_LIMIT_BYTES, logKey } from "../keyspace.ts";
import type { SetMutation } from "../store/store.ts";

/** A stored line and its position in the log. */
export interface StoredLine {
  position: number;
  line: Uint8Array;
}

/** Stores lines as one record. */
export type LogMutation = SetMutation & { value: Uint8Array };

/** Returns the mutations that store lines at the positions from `first` on. */
export function logMutations(first: number, lines: readonly Uint8Array[]): LogMutation[] {
  let last = first - 1;
  return packLines(lines, LOG_RECORD_LIMIT_BYTES).map(({ count, value }) => {
    last += count;
    return { type: "set", key: logKey(last), value };
  });
}

/**
 * The lines of a stored record, with the positions that its key gives them. Returns `undefined` if the record
 * is not one that {@linkcode logMutations} writes. The content of the lines is not checked.
 */
export function linesOf(last: number, value: unknown): StoredLine[] | undefined {
  const lines = unpackLines(value);
  if (lines === undefined || lines.length > last) return undefined;
  const first = last - lines.length + 1;
  return lines.map((line, index) => ({ position: first + index, line }));
}
