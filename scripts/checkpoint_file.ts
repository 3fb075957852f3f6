/** The file in which an operator keeps a checkpoint of the log, outside of its store. */

import { z } from "zod";
import { Sha256Hex } from "../events/api_key.ts";
import type { Checkpoint } from "../src/audit.ts";

const CheckpointFile: z.ZodType<Checkpoint> = z.strictObject({
  position: z.int().min(0),
  hash: Sha256Hex,
});

/** The file is there but holds no checkpoint. */
export class CheckpointFileError extends Error {
  override name = "CheckpointFileError";
}

/** The checkpoint of a file, or `undefined` where there is no such file yet. Throws `CheckpointFileError`. */
export async function readCheckpoint(path: string): Promise<Checkpoint | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  try {
    return CheckpointFile.parse(JSON.parse(text));
  } catch {
    throw new CheckpointFileError(`${path} holds no checkpoint`);
  }
}

/** Replaces the file as a whole: whoever reads it finds the old checkpoint or the new one. */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  // Beside the file, for a rename is atomic within a file system only.
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
