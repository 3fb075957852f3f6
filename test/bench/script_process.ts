/** The operators' commands under measurement, each in its own process. */

import { existsSync } from "node:fs";
import { cpuMs, memoryMiB, ROOT } from "./server_process.ts";

export interface ScriptRun {
  seconds: number;
  /** Processor time of all threads; NaN if the system does not report it. */
  cpuMs: number;
  /** Peak of the resident memory; NaN if the system does not report it. */
  peakMiB: number;
}

export interface ScriptOptions {
  /** The folder of the checkout. */
  root?: URL;
  /** The file for standard output. */
  stdout?: string;
}

/** The system forgets the peak of a process that ended, so it is read this often. */
const MEMORY_EVERY_MS = 20;

/** Runs a script of `scripts/` on a store to its end, which must be a success. */
export async function runScript(
  script: string,
  args: string[],
  kvPath: string,
  { root = ROOT, stdout = "/dev/null" }: ScriptOptions = {},
): Promise<ScriptRun> {
  const cpuBefore = cpuMs(Deno.pid, "children");
  const start = performance.now();
  const process = new Deno.Command("sh", {
    args: [
      ...["-c", 'exec "$@" >"$OUTPUT"', "sh"],
      ...[Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", scriptPath(root, script)],
      ...args,
    ],
    cwd: root,
    env: { KV_PATH: kvPath, OUTPUT: stdout },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let peakMiB = NaN;
  const timer = setInterval(() => {
    const now = memoryMiB(process.pid, "VmHWM");
    if (!Number.isNaN(now)) peakMiB = now;
  }, MEMORY_EVERY_MS);
  const { success, stderr } = await process.output();
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1_000;
  if (!success) throw new Error(`${script} failed: ${new TextDecoder().decode(stderr)}`);
  return { seconds, cpuMs: cpuMs(Deno.pid, "children") - cpuBefore, peakMiB };
}

/** The program of a command. Versions before 4 had one file for each. */
function scriptPath(root: string | URL, script: string): string {
  const path = `scripts/${script}/main.ts`;
  return existsSync(root instanceof URL ? new URL(path, root) : `${root}/${path}`)
    ? path
    : `scripts/${script}.ts`;
}
