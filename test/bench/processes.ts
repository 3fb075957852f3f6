/** Servers under measurement, each in its own process. */

import { readLines } from "../support/service_process.ts";

export interface ServerProcess extends AsyncDisposable {
  port: number;
  /** Processor time of all threads so far, in milliseconds; NaN if the system does not report it. */
  cpuMs(): number;
  /** Resident memory in MiB; NaN if the system does not report it. */
  memoryMiB(): number;
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
  const options = { args, cwd: root, stderr: "inherit" } as const;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), options).output();
  if (!success) throw new Error("fillStore() failed");
  return new TextDecoder().decode(stdout).trim();
}

/**
 * The service of a checkout on a store file. It runs without the launcher, because the launcher's memory and
 * processor time are not the service's.
 */
export function startService(
  kvPath: string,
  root: URL,
  env: Record<string, string>,
): Promise<ServerProcess> {
  const variables = { ...env, KV_PATH: kvPath, PORT: "0", HOST: "127.0.0.1" };
  return start(["src/main.ts"], root, variables);
}

/** The bare server, which always returns the same response. */
export function startBareServer(response: object): Promise<ServerProcess> {
  return start(["test/bench/bare_server.ts", JSON.stringify(response)], ROOT, {});
}

async function start(
  program: string[],
  root: URL,
  env: Record<string, string>,
): Promise<ServerProcess> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", ...program],
    cwd: root,
    env,
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
  return {
    port,
    cpuMs: () => cpuMs(process.pid),
    memoryMiB: () => Number(/VmRSS:\s+(\d+) kB/.exec(readProc(process.pid, "status"))?.[1]) / 1_024,
    async [Symbol.asyncDispose]() {
      process.kill("SIGTERM");
      await process.status;
    },
  };
}

/** Processor time of a process. */
function cpuMs(pid: number): number {
  const fields = readProc(pid, "stat").split(") ").at(-1)!.split(" ");
  // The kernel counts in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function readProc(pid: number, file: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}
