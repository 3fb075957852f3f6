import { assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS, moduleOf } from "../../../scripts/launch/commands.ts";
import { runTask } from "../../support/run_task.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

/** Not `schema`, which uses no store. */
const { dev: _dev, schema: _schema, ...LAUNCHED } = COMMANDS;
const ARGS: Record<string, string[]> = {
  keys: ["list"],
  backup: ["backup.jsonl"],
  publish: ["published", "--key", "deno.json"],
  prove: ["1", "--published", "published"],
  restore: ["missing.jsonl"],
};

test("every command exits with 2 if it could not run", () =>
  withProjectCopy(async (project) => {
    const fails = async (name: string, error: string, env: Record<string, string> = {}) => {
      const args = [name, ...ARGS[name] ?? []];
      const { code, stderr } = await runTask(args, { kvPath: "pets.sqlite3", project, env });
      assertEquals([...args, code], [...args, 2], stderr);
      assertStringIncludes(stderr, error);
    };
    for (const name of Object.keys(LAUNCHED)) {
      // The settings are wrong, or the path leads into a file.
      await fails(name, "error: ", { READS: "strict" });
      await fails(name, "error: ", { KV_PATH: "deno.json/pets.sqlite3" });
    }
    await Deno.writeTextFile(`${project}/${moduleOf("log")}`, 'import "./missing.ts";');
    await fails("log", "Module not found");
    await Deno.writeTextFile(`${project}/${moduleOf("log")}`, 'throw new Error("A defect");');
    await fails("log", "A defect");
  }));
