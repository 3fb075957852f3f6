import { fileURLToPath, pathToFileURL } from "node:url";
import { type Code, loadCode } from "./load_code.ts";
import type { Mutant } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Writes a mutant of the code to a temporary folder, and removes the folder after `use`. */
export async function withMutant<T>(mutant: Mutant, use: (code: Code) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "animal-store-mutant-" });
  try {
    for (const part of ["src", "events", "scripts"]) {
      await copyTree(`${ROOT}${part}`, `${folder}/${part}`);
    }
    const text = await Deno.readTextFile(ROOT + mutant.file);
    await Deno.writeTextFile(`${folder}/${mutant.file}`, mutate(text, mutant));
    return await use(await loadCode(new URL(`${pathToFileURL(folder)}/`)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Throws if a text to replace does not occur exactly once, because the code has changed since. */
function mutate(source: string, { name, file, edits }: Mutant): string {
  for (const [text, instead] of edits) {
    const places = source.split(text).length - 1;
    if (places !== 1) {
      throw new Error(`Mutant "${name}": ${file} has ${JSON.stringify(text)} ${places} times`);
    }
    source = source.replace(text, () => instead);
  }
  return source;
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
