/** The file in which an operator keeps a checkpoint of the log, outside of the store. */

import { dirname } from "node:path";
import { z } from "zod";
import { Sha256Hex } from "../../events/api_key.ts";
import type { Checkpoint } from "./log_audit.ts";

const CheckpointFile: z.ZodType<Checkpoint> = z.strictObject({
  position: z.int().min(0),
  hash: Sha256Hex,
});

/** The checkpoint in a file, or `undefined` if the file does not exist yet. Its folder must exist. */
export async function readLogEnd(path: string): Promise<Checkpoint | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // Otherwise, a checkpoint could not be written after the audit.
    await Deno.stat(dirname(path));
    return undefined;
  }
  try {
    return CheckpointFile.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} does not contain a checkpoint`);
  }
}

/** Replaces the file atomically: a reader finds either the old checkpoint or the new one. */
export async function writeLogEnd(path: string, checkpoint: Checkpoint): Promise<void> {
  // In the same folder, because a rename is atomic only within a file system.
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(draft, `${JSON.stringify(checkpoint)}\n`, { createNew: true });
    using file = await Deno.open(draft, { write: true });
    await file.sync();
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
