/** Services under measurement, each in its own process. */

import { existsSync } from "node:fs";
import { BUILT, NODE } from "../support/programs.ts";
import { readLines } from "../support/service_process.ts";
import { expectDone } from "../support/third_party_tools.ts";

export interface ServerProcess extends AsyncDisposable {
  port: number;
  /** Processor time of all threads so far, in milliseconds; NaN if the system does not report it. */
  cpuMs(): number;
  /** Peak of the resident memory in MiB; NaN if the system does not report it. */
  memoryMiB(): number;
}

/** The programs of a checkout, which are measured. */
export interface Checkout {
  root: URL;
  /** Whether they are those of the built program of this checkout, on Node. */
  isOnNode?: boolean;
}

/** The program and the arguments that run a command of a checkout. */
export function programOf({ root, isOnNode = false }: Checkout, name: string): string[] {
  if (isOnNode) return [NODE, BUILT, name];
  // An older checkout has a program for each command.
  const hasOneProgram = existsSync(new URL("scripts/main.ts", root));
  const program = hasOneProgram ? ["scripts/main.ts", name] : [`scripts/${name}/main.ts`];
  return [Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", ...program];
}

/** The folder of this checkout. */
export const ROOT = new URL("../../", import.meta.url);

/** Lets the code of a checkout write a store file, as fillStore() does. Resolves to an API key. */
export async function fillByCheckout(
  root: URL,
  path: string,
  pets: number,
): Promise<string> {
  const module = JSON.stringify(new URL("test/support/fill_store.ts", root));
  const script = `const { fillStore } = await import(${module});
    console.log(await fillStore(${JSON.stringify(path)}, ${pets}));`;
  const args = ["eval", "--quiet", "--no-check", script];
  return (await expectDone(Deno.execPath(), args, { cwd: root })).trim();
}

/**
 * The service of a checkout on a store file, once it is ready: the fill of its index would be measured with the first
 * requests. It runs without Deno's task runner, whose memory and processor time are not the service's.
 */
export async function startService(
  kvPath: string,
  checkout: Checkout,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const [program, ...args] = programOf(checkout, "start");
  const process = new Deno.Command(program, {
    args,
    cwd: checkout.root,
    env: { ...env, KV_PATH: kvPath, PORT: "0", HOST: "127.0.0.1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const lines: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    readLines(process.stderr, (line) => {
      lines.push(line);
      if (line.includes('"listening"')) resolve(JSON.parse(line).port);
    }).then(() => reject(new Error(`The server did not start: ${lines.join("\n")}`)));
  });
  while (!await isReady(port)) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    port,
    cpuMs: () => cpuMs(process.pid),
    memoryMiB: () => memoryMiB(process.pid),
    async [Symbol.asyncDispose]() {
      process.kill("SIGTERM");
      await process.status;
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  await response.body?.cancel();
  return response.ok;
}

/** Processor time of a process, or of all its children that have ended. */
export function cpuMs(pid: number, of: "process" | "children" = "process"): number {
  const fields = readProc(pid, "stat").split(") ").at(-1)!.split(" ");
  const [user, system] = fields.slice(of === "process" ? 11 : 13);
  // The kernel counts in ticks of 10 ms.
  return (Number(user) + Number(system)) * 10;
}

/** Peak of the resident memory of a process in MiB; NaN if the system does not report it. */
export function memoryMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readProc(pid, "status"))?.[1]) / 1_024;
}

function readProc(pid: number, file: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}
