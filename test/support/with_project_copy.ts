import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Runs `use` with a copy of what an installation and its type check need, which it may change, in a temporary folder. */
export async function withProjectCopy<T>(use: (project: string) => Promise<T>): Promise<T> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const project = `${folder}/project`;
  try {
    for (const name of ["events", "scripts", "src", "test/std.d.ts", "deno.json", "deno.lock"]) {
      await cp(ROOT + name, `${project}/${name}`, { recursive: true });
    }
    return await use(project);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
