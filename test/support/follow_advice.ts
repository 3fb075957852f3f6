import { assert } from "@std/assert";
import { IS_ON_NODE, taskOf } from "./programs.ts";
import { storeVariables } from "./real_store.ts";
import { run } from "./third_party_tools.ts";

/**
 * Runs the commands of an advice as an operator does, in the folder of an installation, and resolves to all that they
 * print. A line that begins with two spaces is a command. A replay has no grace period, because no service runs.
 */
export async function followAdvice(
  advice: string,
  project: string,
  kvPath: string,
): Promise<string> {
  const commands = advice.split("\n").filter((line) => line.startsWith("  "));
  assert(commands.length > 0, `no commands: ${advice}`);
  const [program, ...args] = taskOf("");
  // The outcome of a task names those of Deno.
  const called = IS_ON_NODE ? `${program} ${args[0]}` : `${program} task`;
  const script = commands.join("\n")
    .replace(/replay$/m, "$& --grace 0")
    .replaceAll("deno task", called);
  const env = { NO_COLOR: "1", ...storeVariables(kvPath) };
  return (await run("bash", ["-c", script], { cwd: project, env })).output;
}
