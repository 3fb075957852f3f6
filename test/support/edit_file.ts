import { assert } from "@std/assert";

/** A text in a file, and what replaces its first occurrence. */
export type TextEdit = [text: string, replacement: string];

/** Edits a file. Fails if it lacks one of the texts. */
export async function editFile(path: string, edits: TextEdit[]): Promise<void> {
  let source = await Deno.readTextFile(path);
  for (const [text, replacement] of edits) {
    assert(source.includes(text), `${path}: ${text}`);
    source = source.replace(text, () => replacement);
  }
  await Deno.writeTextFile(path, source);
}
