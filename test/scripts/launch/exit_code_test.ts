import { assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS, moduleOf } from "../../../scripts/launch/commands.ts";
import { permitted } from "../../support/permitted.ts";
import { runTask } from "../../support/run_task.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";
import { testIf } from "../../support/test_if.ts";

const test = testIf(permitted("env", "read", "run", "write"));

const { dev: _dev, ...LAUNCHED } = COMMANDS;
const ARGS: Record<string, string[]> = {
  keys: ["list"],
  backup: ["backup.jsonl"],
  publish: ["published", "--key", "deno.json"],
  prove: ["1", "--published", "published"],
  restore: ["missing.jsonl"],
};

/** Programs that cannot run. The settings of the first are wrong, and the path of the second leads into a file. */
const OBSTACLES: [source: string | undefined, env: Record<string, string>, error: string][] = [
  [undefined, { READS: "strict" }, "error: "],
  [undefined, { KV_PATH: "deno.json/pets.sqlite3" }, "error: "],
  ['import "./missing.ts";', {}, "Module not found"],
  ['await Promise.reject(new Error("A defect"));', {}, "A defect"],
];

test("every command exits with 2 if it could not run", () =>
  withProjectCopy(async (project) => {
    for (const [source, env, error] of OBSTACLES) {
      for (const name of Object.keys(LAUNCHED)) {
        if (source !== undefined) await Deno.writeTextFile(`${project}/${moduleOf(name)}`, source);
        // This one uses no store.
        else if (name === "schema") continue;
        const args = [name, ...ARGS[name] ?? []];
        const { code, stderr } = await runTask(args, { kvPath: "pets.sqlite3", project, env });
        assertEquals([...args, code], [...args, 2], stderr);
        assertStringIncludes(stderr, error);
      }
    }
  }));
