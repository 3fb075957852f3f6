/**
 * The record that replaces the head while a log is restored into a store. `store/keyspace.ts`
 * distinguishes the two.
 */

import { z } from "zod";
import { Sha256Hex, Ulid } from "../../events/api_key.ts";

const RestoreMark = z.strictObject({
  format: z.literal("restore"),
  /** Id of the tool run that wrote the mark last. */
  run: Ulid,
  /** Position and hash of the last line of the log to restore. */
  position: z.int().min(1),
  lastHash: Sha256Hex,
  /** The last position that the store already has. */
  restored: z.int().min(0),
});
export type RestoreMark = z.infer<typeof RestoreMark>;

export function encodeRestoreMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** Decodes a mark; `undefined` if it is damaged. */
export function decodeRestoreMark(value: string): RestoreMark | undefined {
  try {
    return RestoreMark.parse(JSON.parse(value));
  } catch {
    return undefined;
  }
}
