import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty file in the folder for temporary files (TMPDIR), and resolves to its path. */
export async function makeTempFile(prefix: string): Promise<string> {
  const path = join(tmpdir(), `${prefix}${crypto.randomUUID()}`);
  await writeFile(path, "", { flag: "wx", mode: 0o600 });
  return path;
}
