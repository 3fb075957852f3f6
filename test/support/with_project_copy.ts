import { cp, glob } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The files that an installation and its type check need. */
const INSTALLED = [
  "events",
  "scripts",
  "src",
  "test/std.d.ts",
  "test/interface",
  "deno.json",
  "deno.lock",
];

/** The further files that the tests need. */
export const WITH_TESTS = [...INSTALLED, "test", "README.md", ".ci"];

/** Runs `use` with a copy of some files and folders, which it may change, in a temporary folder. */
export async function withProjectCopy<T>(
  use: (project: string) => Promise<T>,
  names = INSTALLED,
): Promise<T> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const project = `${folder}/project`;
  try {
    for (const name of names) {
      await cp(ROOT + name, `${project}/${name}`, { recursive: true });
    }
    return await use(project);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Imports a module of a copy, so that it uses only modules of the copy: `eventstore-less` names those of this project. The
 * names of the packages of the engine hold only in its folder.
 */
export async function importFromCopy<Module>(project: string, path: string): Promise<Module> {
  for await (const file of glob(`${project}/{events,scripts,src}/**/*.ts`)) {
    const text = await Deno.readTextFile(file);
    const bound = text.replace(/(?<=(?:from|import) |import\()"([^"]+)"/g, (quoted, name) => {
      if (/^eventstore-less(?:\/|$)/.test(name)) {
        return JSON.stringify(import.meta.resolve(name).replace(ROOT, `${project}/`));
      }
      const prefix = Object.keys(engine.imports).find((it) => name === it || name.startsWith(it));
      if (prefix === undefined) return quoted;
      const target = engine.imports[prefix as keyof typeof engine.imports];
      return JSON.stringify(target + name.slice(prefix.length));
    });
    if (bound !== text) await Deno.writeTextFile(file, bound);
  }
  return await import(`file://${project}/${path}`);
}
