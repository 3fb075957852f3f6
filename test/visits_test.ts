import { assert, assertEquals } from "@std/assert";
import { PROCESSES, testNeeding } from "./support/test_needing.ts";
import { deno, runVisits, VISITS } from "./support/run_visits.ts";

const test = testNeeding(PROCESSES);

/** The commands that name nothing of an application. `log` names API keys, for `--pretty`. */
const COMMANDS = ["audit", "backup", "publish", "prove", "replay", "restore", "schema"];

test("Another application: the engine and the commands have its types, and its code is as the rest", async () => {
  const commands = COMMANDS.map((name) => `scripts/${name}/main.ts`);
  const checks = [
    ["check", ...VISITS, "test/visits/engine_suite.ts", ...commands],
    ["fmt", "--check", "--config", "test/visits/deno.json", "test/visits"],
    ["lint", "--config", "test/visits/deno.json", "test/visits"],
  ];
  for (const args of checks) {
    const { code, stderr } = await deno(args);
    assertEquals(code, 0, stderr);
  }
});

test("Another application: the engine works on stores in memory and in files", async () => {
  await runVisits(() => Promise.resolve(":memory:"));
  const folder = await Deno.makeTempDir();
  let files = 0;
  await runVisits(() => Promise.resolve(`${folder}/${++files}.sqlite3`));
  assert(files > 5);
  await Deno.remove(folder, { recursive: true });
});
