/** The record that replaces the head while a log is restored into a store. */

import { z } from "zod";
import { Sha256Hex, Ulid } from "../../events/api_key.ts";

export const RestoreMark = z.strictObject({
  format: z.literal("restore"),
  /** The format of the store that the restore writes. */
  storeFormat: z.literal(3),
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
