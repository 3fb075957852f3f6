/** A checkpoint: what an operator keeps of a log, outside of its store, to see later that it was only added to. */

import { z } from "zod";
import { Sha256Hex } from "../events/api_key.ts";

const Checkpoint = z.strictObject({
  /** Position of the last line that was sound; 0 for an empty log. */
  position: z.int().min(0),
  /** SHA-256 (hex) of that line. */
  hash: Sha256Hex,
});
export type Checkpoint = z.infer<typeof Checkpoint>;

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
    return Checkpoint.parse(JSON.parse(text));
  } catch {
    throw new CheckpointFileError(`${path} holds no checkpoint`);
  }
}

/** Replaces the file as a whole: whoever reads it finds the old checkpoint or the new one. */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  // Beside the file, for a rename is atomic within a file system only.
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await Deno.open(draft, { write: true, createNew: true });
    try {
      await file.write(new TextEncoder().encode(`${JSON.stringify(checkpoint)}\n`));
      await file.sync();
    } finally {
      file.close();
    }
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
