import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../scripts/launch/commands.ts";
import { permitted } from "./support/permitted.ts";

const ROOT = new URL("../", import.meta.url);

const PROGRAM_FOLDERS = ["events/", "src/", "scripts/"];

/** Tests and measurements may do everything. */
const UNLIMITED_TASKS = /^(test|bench)(:|$)|^(faults|sim|ok)$/;

async function readDenoJson() {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
}

Deno.test({
  name: "The programs may read every variable that config.ts reads, and no other",
  ignore: !permitted("read"),
  fn: async () => {
    const source = await Deno.readTextFile(new URL("src/settings/config.ts", ROOT));
    const names = [...source.matchAll(/(?:read|readAddress)\("([A-Z_]+)"/g)].map(([, it]) => it);
    assert(names.length > 5 && names.includes("KV_PATH"), `found only ${names}`);
    const { permissions } = await readDenoJson();
    assertEquals(permissions.program.env.toSorted(), [...new Set(names)].sort());
  },
});

Deno.test({
  name: "No program writes its environment",
  ignore: !permitted("read"),
  fn: async () => {
    for (const folder of PROGRAM_FOLDERS) {
      for (const path of await filesIn(new URL(folder, ROOT))) {
        const source = await Deno.readTextFile(path);
        // The samples for clients read `process.env.KEY`.
        assert(!/\benv\.(set|delete)\b|\bprocess\.env\b(?!\.KEY\})/.test(source), path.pathname);
      }
    }
  },
});

Deno.test({
  name:
    "deno.json names only packages of the programs, and the other lock files pin what deno.lock pins",
  ignore: !permitted("read"),
  fn: async () => {
    const paths = await Promise.all(PROGRAM_FOLDERS.map((it) => filesIn(new URL(it, ROOT))));
    const sources = await Promise.all(paths.flat().map((path) => Deno.readTextFile(path)));
    const { imports } = await readDenoJson();
    for (const name of Object.keys(imports)) {
      // Only the tests use these. The package of the other @std names holds the first, too.
      if (/^@std\/(assert|testing)/.test(name)) continue;
      assert(sources.some((it) => it.includes(`from "${name}`) || it.includes(`("${name}`)), name);
    }
    const read = async (file: string) => JSON.parse(await Deno.readTextFile(new URL(file, ROOT)));
    const lock = await read("deno.lock");
    for (const file of ["test/deno.lock", "scripts/report/report.lock"]) {
      const other = await read(file);
      assertEquals(other.workspace, lock.workspace);
      for (const [name, pin] of Object.entries(lock.specifiers)) {
        assertEquals(other.specifiers[name], pin, `${name} in ${file}`);
      }
      assertEquals(integrities(lock), integrities(other, Object.keys(integrities(lock))));
    }
  },
});

Deno.test({
  name:
    "No lock file has the native SQLite modules of @deno/kv, 3 MB that a KV Connect client never uses",
  ignore: !permitted("read"),
  fn: async () => {
    for (const file of ["deno.lock", "test/deno.lock", "scripts/report/report.lock"]) {
      const { npm } = JSON.parse(await Deno.readTextFile(new URL(file, ROOT)));
      const hint = `remove @deno/kv-* and "optionalDependencies" of @deno/kv from ${file}`;
      assert("@deno/kv@0.14.0" in npm, file);
      assertEquals(Object.keys(npm).filter((name) => name.startsWith("@deno/kv-")), [], hint);
    }
  },
});

/** The integrity of each package, by name and version: a lock may add versions of peers to the name. */
function integrities(
  { npm }: { npm: Record<string, { integrity: string }> },
  names?: string[],
): Record<string, string> {
  const all = Object.entries(npm).map(([name, pin]) => [name.split("_")[0], pin.integrity]);
  return Object.fromEntries(all.filter(([name]) => names?.includes(name) ?? true));
}

async function filesIn(folder: URL): Promise<URL[]> {
  const paths: URL[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) paths.push(...await filesIn(new URL(`${name}/`, folder)));
    else if (!name.endsWith(".md")) paths.push(new URL(name, folder));
  }
  return paths;
}

Deno.test({
  name: "The tasks are the commands, which get their permissions from the launcher, and tests",
  ignore: !permitted("read"),
  fn: async () => {
    const { tasks } = await readDenoJson();
    const own = Object.entries(tasks).filter(([task]) => !UNLIMITED_TASKS.test(task));
    const launch = "LAUNCHED_OTEL_DENO=$OTEL_DENO OTEL_DENO=false deno run -q -P=launcher " +
      "scripts/launch/main.ts";
    const expected = Object.entries(COMMANDS).map(([name, { title }]) => [name, {
      description: title,
      command: name === "dev" ? "deno run -q -P=launcher scripts/dev/main.ts" : `${launch} ${name}`,
    }]);
    assertEquals(Object.fromEntries(own), Object.fromEntries(expected));
  },
});

Deno.test({
  name: "README: its commands are those of the table",
  ignore: !permitted("read"),
  fn: async () => {
    const readme = await Deno.readTextFile(new URL("README.md", ROOT));
    const rows = [...readme.matchAll(/^\| `deno task (\w+)` +\| (.*?) +\|$/gm)];
    assertEquals(
      rows.map(([, name, title]) => [name, title]),
      Object.entries(COMMANDS).map(([name, { title }]) => [name, title]),
    );
  },
});
