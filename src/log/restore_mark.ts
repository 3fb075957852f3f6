/**
 * What stands in the head's place while a log is restored into a store; `store/keyspace.ts` tells the two
 * apart.
 */

import { z } from "zod";
import { Sha256Hex, Ulid } from "../../events/api_key.ts";

const RestoreMark = z.strictObject({
  format: z.literal("restore"),
  /** Id of the run of the tool that wrote it last. */
  run: Ulid,
  /** Position and hash of the last line of the log that is being restored. */
  position: z.int().min(1),
  lastHash: Sha256Hex,
  /** Up to which position the store has it already. */
  restored: z.int().min(0),
});
export type RestoreMark = z.infer<typeof RestoreMark>;

export function encodeRestoreMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** `undefined` where the mark is damaged. */
export function decodeRestoreMark(value: string): RestoreMark | undefined {
  try {
    return RestoreMark.parse(JSON.parse(value));
  } catch {
    return undefined;
  }
}
