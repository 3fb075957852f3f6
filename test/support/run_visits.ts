import { assertMatch } from "@std/assert";
import { ROOT } from "./with_project_copy.ts";

/** The flags by which the engine is bound to the application in `test/visits`. */
export const VISITS = [
  ...["--config", "test/visits/deno.json"],
  ...["--import-map", "test/visits/import_map.json"],
];

/** Number of stores that the suite uses: one for each test, and one to restore into. */
const STORES = 10;

/** Runs Deno in the project. */
export async function deno(args: string[], env: Record<string, string> = {}) {
  const options = { args, cwd: ROOT, env: { NO_COLOR: "1", ...env } };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), options).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Runs the tests of the engine on that application, each on a store of its own. `newStore` resolves to its name. */
export async function runVisits(newStore: () => Promise<string>): Promise<void> {
  const names: string[] = [];
  for (let count = 0; count < STORES; count++) names.push(await newStore());
  const args = ["test", "--allow-all", ...VISITS, "test/visits/engine_suite.ts"];
  const { stdout, stderr } = await deno(args, { STORES: names.join(" ") });
  assertMatch(stdout, /\nok \| [1-9]\d* passed \| 0 failed/, stdout + stderr);
}
