/** Servers under measurement, each in its own process. */

import { storeVariables } from "../support/real_store.ts";

export interface ServerProcess {
  port: number;
  /** Milliseconds from the start of the process to the first response. */
  startMs: number;
  /** Processor time of all threads so far, in milliseconds; NaN if the system does not report it. */
  cpuMs(): number;
  /** Resident memory in MiB; NaN if the system does not report it. */
  memoryMiB(): number;
  stop(): Promise<void>;
}

/** The folder of this checkout. */
export const ROOT = new URL("../../", import.meta.url);

/**
 * The service on a store file, with the flags of `deno task start`. It runs without the launcher, because the
 * launcher's memory and processor time are not the service's.
 */
export async function startService(
  kvPath: string,
  root = ROOT,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  // Older checkouts have no launcher, and a task of theirs is only its command.
  const words: string[] = (tasks.start.command ?? tasks.start).split(" ");
  const flags = words.filter((word) => word.startsWith("--v8-flags="));
  return await start(
    ["--allow-all", ...flags, "src/main.ts"],
    { ...env, ...storeVariables(kvPath), PORT: "0", HOST: "127.0.0.1" },
    root,
  );
}

/** The bare server, which always returns the same response. */
export function startBareServer(answer: object): Promise<ServerProcess> {
  const script = new URL("./bare_server.ts", import.meta.url).href;
  return start(["--allow-net", script, JSON.stringify(answer)], {});
}

async function start(
  args: string[],
  env: Record<string, string>,
  root = ROOT,
): Promise<ServerProcess> {
  const started = performance.now();
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", ...args],
    cwd: root,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const port = await portOf(process.stderr);
  const probe = await fetch(`http://127.0.0.1:${port}/v1/pets`);
  await probe.body?.cancel();
  const startMs = performance.now() - started;
  return {
    port,
    startMs,
    cpuMs: () => cpuMs(process.pid),
    memoryMiB: () => memoryMiB(process.pid),
    async stop() {
      process.kill("SIGTERM");
      await process.status;
    },
  };
}

/** Reads the output until the server listens, and discards the rest. */
async function portOf(stderr: ReadableStream<Uint8Array>): Promise<number> {
  const lines = stderr.pipeThrough(new TextDecoderStream());
  let text = "";
  const reader = lines.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server did not start: ${text}`);
    text += value;
    const port = /"listening".*"port":(\d+)/.exec(text)?.[1];
    if (port === undefined) continue;
    (async () => {
      while (!(await reader.read()).done);
    })();
    return Number(port);
  }
}

/** Processor time of a process, or of all its children that have ended. */
export function cpuMs(pid: number, of: "process" | "children" = "process"): number {
  const fields = readProc(pid, "stat")?.split(") ").at(-1)?.split(" ");
  if (fields === undefined) return NaN;
  const [user, system] = fields.slice(of === "process" ? 11 : 13);
  // The kernel counts in ticks of 10 ms.
  return (Number(user) + Number(system)) * 10;
}

/** Resident memory of a process in MiB: its current size, or its peak so far. */
export function memoryMiB(pid: number, which: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const kib = new RegExp(`${which}:\\s+(\\d+) kB`).exec(readProc(pid, "status") ?? "")?.[1];
  return kib === undefined ? NaN : Number(kib) / 1_024;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
