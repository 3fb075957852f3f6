/** The operators' commands under measurement, each in its own process. */

import { TempStore } from "../support/temp_store.ts";
import { cpuMs, memoryMiB } from "./processes.ts";

interface CommandRun {
  seconds: number;
  /** Processor time of all threads; NaN if the system does not report it. */
  cpuMs: number;
  /** Peak of the resident memory; NaN if the system does not report it. */
  peakMiB: number;
}

/** A checkout, and its own files. */
export interface CommandFiles {
  root: URL;
  kvPath: string;
  /** A copy of the store, which each replay rebuilds. */
  replayedPath: string;
  exportPath: string;
}

export const COMMANDS: { name: string; run(files: CommandFiles): Promise<CommandRun> }[] = [
  {
    name: "replay",
    run: ({ root, replayedPath }) => runCommand(root, ["replay", "--grace", "0"], replayedPath),
  },
  { name: "restore", run: restoreIntoNewStore },
  { name: "audit", run: ({ root, kvPath }) => runCommand(root, ["audit"], kvPath) },
  { name: "export", run: exportLog },
];

/** The system forgets the peak of a process that ended, so it is read this often. */
const MEMORY_EVERY_MS = 20;

export function exportLog({ root, kvPath, exportPath }: CommandFiles): Promise<CommandRun> {
  return runCommand(root, ["log"], kvPath, exportPath);
}

async function restoreIntoNewStore({ root, exportPath }: CommandFiles): Promise<CommandRun> {
  await using temp = await TempStore.make();
  return await runCommand(root, ["restore", exportPath], temp.kvPath);
}

/** Runs a command of a checkout on a store to its end, which must be a success. */
async function runCommand(
  root: URL,
  [name, ...args]: string[],
  kvPath: string,
  stdout = "/dev/null",
): Promise<CommandRun> {
  const cpuBefore = cpuMs(Deno.pid, "children");
  const start = performance.now();
  const program = ["run", "--quiet", "--no-check", "--allow-all", `scripts/${name}/main.ts`];
  const process = new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >"$OUTPUT"', "sh", Deno.execPath(), ...program, ...args],
    cwd: root,
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
