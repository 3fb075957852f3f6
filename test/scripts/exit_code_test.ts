import { assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../scripts/cli/commands.ts";
import { ON_DENO } from "../support/programs.ts";
import { runTask } from "../support/run_task.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { withProjectCopy } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES, ON_DENO);

/** Not `schema`, which uses no store. */
const { dev: _dev, schema: _schema, ...OPENING } = COMMANDS;
const ARGS: Record<string, string[]> = {
  keys: ["list"],
  backup: ["backup.jsonl"],
  publish: ["published", "--key", "deno.json"],
  prove: ["1", "--published", "published"],
  restore: ["missing.jsonl"],
};

const DEFECTS = [
  'setTimeout(() => { throw new Error("A defect of this test"); });',
  'void Promise.reject(new Error("A defect of this test"));',
];

/** A command that waits, and has a defect. */
function programWith(defect: string): string {
  return `import { COMMANDS } from "../cli/commands.ts";
    import { runCommand } from "../cli/run_command.ts";
    await runCommand(COMMANDS.log, {
      run() {
        ${defect}
        return new Promise((resolve) => setTimeout(resolve, 10_000));
      },
    });`;
}

test("every command exits with 2 if it could not run or has a defect, and Deno with 1 if it cannot load it", () =>
  withProjectCopy(async (project) => {
    const fails = async (
      name: string,
      error: string,
      { env = {}, expected = 2 }: { env?: Record<string, string>; expected?: number } = {},
    ) => {
      const args = [name, ...ARGS[name] ?? []];
      const { code, stderr } = await runTask(args, { kvPath: "pets.sqlite3", project, env });
      assertEquals([...args, code], [...args, expected], stderr);
      assertStringIncludes(stderr, error);
    };
    for (const name of Object.keys(OPENING)) {
      // The settings are wrong, or the path leads into a file.
      await fails(name, "error: ", { env: { READS: "strict" } });
      await fails(name, "error: ", { env: { KV_PATH: "deno.json/pets.sqlite3" } });
    }
    const module = `${project}/scripts/log/main.ts`;
    for (const defect of DEFECTS) {
      await Deno.writeTextFile(module, programWith(defect));
      await fails("log", "error: A defect ended the command: A defect of this test (at ");
    }
    await Deno.writeTextFile(module, 'import "./missing.ts";');
    await fails("log", "Module not found", { expected: 1 });
  }));
