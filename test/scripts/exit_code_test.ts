import { assertEquals, assertStringIncludes } from "@std/assert";
import { ON_DENO } from "../support/programs.ts";
import { runTask } from "../support/run_task.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { withProjectCopy } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES, ON_DENO);

const DEFECTS = [
  'setTimeout(() => { throw new Error("A defect of this test"); });',
  'void Promise.reject(new Error("A defect of this test"));',
];

/** A command that waits, and has a defect. */
function programWith(defect: string): string {
  return `import { operatorCommand } from "../cli/run_command.ts";
    export const command = operatorCommand({
      run() {
        ${defect}
        return new Promise((resolve) => setTimeout(resolve, 10_000));
      },
    });`;
}

test("a command exits with 2 if it has a defect, and Deno with 1 if it cannot load the command", () =>
  withProjectCopy(async (project) => {
    const fails = async (program: string, error: string, expected: number) => {
      await Deno.writeTextFile(`${project}/scripts/log/command.ts`, program);
      const { code, stderr } = await runTask(["log"], { kvPath: "pets.sqlite3", project });
      assertEquals(code, expected, stderr);
      assertStringIncludes(stderr, error);
    };
    for (const defect of DEFECTS) {
      const error = "error: A defect ended the command: A defect of this test (at ";
      await fails(programWith(defect), error, 2);
    }
    await fails('import "./missing.ts";', "Module not found", 1);
  }));
