/** The operators' commands under measurement, each in its own process. */

import { TempStore } from "../support/temp_store.ts";
import { type Checkout, cpuMs, memoryMiB, programOf } from "./processes.ts";

interface CommandRun {
  seconds: number;
  /** Processor time of all threads; NaN if the system does not report it. */
  cpuMs: number;
  /** Peak of the resident memory; NaN if the system does not report it. */
  peakMiB: number;
}

/** A checkout, and its own files. */
export interface CommandFiles extends Checkout {
  kvPath: string;
  /** A copy of the store, which each replay rebuilds. */
  replayedPath: string;
  exportPath: string;
}

export const COMMANDS: { name: string; run(files: CommandFiles): Promise<CommandRun> }[] = [
  {
    name: "replay",
    run: (files) => runCommand(files, ["replay", "--grace", "0"], files.replayedPath),
  },
  { name: "restore", run: restoreIntoNewStore },
  { name: "audit", run: (files) => runCommand(files, ["audit"], files.kvPath) },
  { name: "export", run: exportLog },
];

/** The system forgets the peak of a process that ended, so it is read this often. */
const MEMORY_EVERY_MS = 20;

export function exportLog(files: CommandFiles): Promise<CommandRun> {
  return runCommand(files, ["log"], files.kvPath, files.exportPath);
}

async function restoreIntoNewStore(files: CommandFiles): Promise<CommandRun> {
  await using temp = await TempStore.make();
  return await runCommand(files, ["restore", files.exportPath], temp.kvPath);
}

/** Runs a command of a checkout on a store to its end, which must be a success. */
async function runCommand(
  checkout: Checkout,
  [name, ...args]: string[],
  kvPath: string,
  stdout = "/dev/null",
): Promise<CommandRun> {
  const cpuBefore = cpuMs(Deno.pid, "children");
  const start = performance.now();
  const program = programOf(checkout, name);
  const process = new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >"$OUTPUT"', "sh", ...program, ...args],
    cwd: checkout.root,
    env: { KV_PATH: kvPath, OUTPUT: stdout },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let peakMiB = NaN;
  const timer = setInterval(() => {
    const now = memoryMiB(process.pid);
    if (!Number.isNaN(now)) peakMiB = now;
  }, MEMORY_EVERY_MS);
  const { success, stderr } = await process.output();
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1_000;
  if (!success) throw new Error(`${name} failed: ${new TextDecoder().decode(stderr)}`);
  return { seconds, cpuMs: cpuMs(Deno.pid, "children") - cpuBefore, peakMiB };
}
