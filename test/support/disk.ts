import { expectDone } from "./third_party_tools.ts";

/** Compiles `disk.c` into a folder, and resolves to the variable that loads it. */
export async function buildDisk(folder: string): Promise<{ LD_PRELOAD: string }> {
  const library = `${folder}/disk.so`;
  const source = new URL("disk.c", import.meta.url).pathname;
  const args = ["-O1", "-shared", "-fPIC", "-o", library, source];
  await expectDone("cc", args);
  return { LD_PRELOAD: library };
}
