/** The programs in the engine's README, in their order and in one folder, print what it says. */

import { assert, assertEquals } from "@std/assert";
import { run } from "../support/third_party_tools.ts";
import { permissions, PROCESSES, testNeeding } from "../support/test_needing.ts";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };

const FOLDER = new URL("../../src/eventstore_less/", import.meta.url);
const PROGRAM = /^```ts\n(\/\/ (\w+\.ts)\n[^]*?)^```(?:\n\n```text\n([^]*?)^```)?/gm;

/** The packages of the engine, and its entries. */
const IMPORTS = {
  ...engine.imports,
  ...Object.fromEntries(
    Object.entries(engine.exports).map(([entry, path]) => {
      return [entry.replace(".", "eventstore-less"), new URL(path, FOLDER).href];
    }),
  ),
};

testNeeding(PROCESSES)("The programs of the engine's README print what it says", async (test) => {
  const readme = await Deno.readTextFile(new URL("README.md", FOLDER));
  const programs = [...readme.matchAll(PROGRAM)].map(([, text, name, printed = ""]) => {
    return { name, text, printed };
  });
  assertEquals(programs.length, readme.match(/^```ts$/gm)?.length, "each begins with its name");
  assert(programs.length >= 7, `found only ${programs.length} programs`);
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ imports: IMPORTS, nodeModulesDir: "none", lock: false }),
    );
    for (const { name, text } of programs) await Deno.writeTextFile(`${folder}/${name}`, text);
    await test.step("they have no type errors", async () => {
      const { code, output } = await run(Deno.execPath(), ["check", folder], { cwd: folder });
      assertEquals(code, 0, output);
    });
    for (const { name, printed } of programs) {
      await test.step(name, async () => {
        const flags = ["run", "-A", "-q", "--no-check"];
        const { code, output } = await run(Deno.execPath(), [...flags, name], { cwd: folder });
        assertEquals([code, output], [0, printed]);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

testNeeding(permissions("read"))(
  "The table of imports names each entry of the engine",
  async () => {
    const readme = await Deno.readTextFile(new URL("README.md", FOLDER));
    const rows = [...readme.matchAll(/^\| `eventstore-less(\/\w+)?` /gm)].map(([, it = ""]) => it);
    const entries = Object.keys(engine.exports).map((entry) => entry.slice(1));
    assertEquals(rows.toSorted(), entries.filter((entry) => entry !== "/int64").toSorted());
    assert(readme.includes("`/int64`"));
  },
);
