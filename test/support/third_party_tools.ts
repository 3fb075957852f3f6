/** Installs tools that only some tests need from their registries, once, and runs them. */

import { outcomeOf } from "./run_task.ts";
import { type Need, PROCESSES } from "./test_needing.ts";

/** Installs tools. If that fails, the name of the need says why. */
export async function install(name: string, tools: () => Promise<unknown>): Promise<Need> {
  if (!PROCESSES.isMet) return PROCESSES;
  try {
    await tools();
    return { name, isMet: true };
  } catch (error) {
    // A mistake in the tests is not a missing tool.
    if (error instanceof TypeError) throw error;
    return { name: `${name} (${(error as Error).message})`, isMet: false };
  }
}

/** Installs the packages of PyPI that a file requires. Their programs are in `bin/` of the folder. */
export async function installFromPyPI(folder: string, requirements: string): Promise<void> {
  await expectDone("python3", ["-m", "venv", folder]);
  await expectDone(`${folder}/bin/pip`, ["install", "--quiet", "-r", requirements]);
}

/** Runs a program to its end, and resolves to all that it prints. Rejects as {@linkcode complete} does. */
export async function run(...command: Parameters<typeof complete>) {
  const { code, stdout, stderr } = await complete(...command);
  return { code, output: stdout + stderr };
}

/** Runs a program that must succeed, and resolves to its standard output. */
export async function expectDone(...command: Parameters<typeof complete>): Promise<string> {
  const { code, stdout, stderr } = await complete(...command);
  const [program, args] = command;
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stdout}${stderr}`);
  return stdout;
}

/** Rejects if the program is not installed, or after ten minutes. */
async function complete(program: string, args: string[], options: Deno.CommandOptions = {}) {
  try {
    const signal = AbortSignal.timeout(10 * 60_000);
    return await outcomeOf(new Deno.Command(program, { signal, ...options, args }));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`${program} is not installed`);
    throw error;
  }
}
