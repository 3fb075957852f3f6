import { assert, assertEquals } from "@std/assert";
import { permitted } from "./support/permitted.ts";

const ROOT = new URL("../", import.meta.url);

/** Tests and measurements may do everything. */
const UNLIMITED_TASKS = /^(test|bench)(:|$)|^(faults|sim)$/;

async function readDenoJson() {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
}

Deno.test({
  name:
    "The programs may read every variable that config.ts and the development server read, and no other",
  ignore: !permitted("read"),
  fn: async () => {
    const names: string[] = [];
    for (const path of ["src/config.ts", "scripts/cli/dev_server.ts"]) {
      const source = await Deno.readTextFile(new URL(path, ROOT));
      const found = source.matchAll(
        /(?:read|readAddress|Deno\.env\.set)\("([A-Z_]+)"|_VARIABLE = "([A-Z_]+)"/g,
      );
      names.push(...[...found].map(([, read, named]) => read ?? named));
    }
    assert(names.length > 5 && names.includes("KV_PATH"), `found only ${names}`);
    const { permissions } = await readDenoJson();
    assertEquals(permissions.program.env.toSorted(), [...new Set(names)].sort());
  },
});

Deno.test({
  name: "Every task but those of tests and measurements gets its permissions from the launcher",
  ignore: !permitted("read"),
  fn: async () => {
    const { tasks } = await readDenoJson();
    let checked = 0;
    for (const [task, { command }] of Object.entries<{ command: string }>(tasks)) {
      if (UNLIMITED_TASKS.test(task) || !command.includes("deno run")) continue;
      assert(command.startsWith("deno run -q -P=launcher "), task);
      assertEquals(command.match(/--allow|-A\b/), null, task);
      checked++;
    }
    assertEquals(checked, 7);
  },
});
