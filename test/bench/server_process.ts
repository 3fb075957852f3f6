/** Servers under measurement, each in its own process. */

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

const ROOT = new URL("../../", import.meta.url);

/**
 * The service on a store file, with the flags of `deno task start`. It runs without the launcher, because the
 * launcher's memory and processor time are not the service's.
 */
export async function startService(kvPath: string): Promise<ServerProcess> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const [, flags] = tasks.start.command.split(" scripts/launch.ts ");
  return await start(["--allow-all", ...flags.split(" ")], {
    KV_PATH: kvPath,
    PORT: "0",
    HOST: "127.0.0.1",
  });
}

/** The bare server, which always returns the same response. */
export function startBareServer(answer: object): Promise<ServerProcess> {
  const script = new URL("./bare_server.ts", import.meta.url).href;
  return start(["--allow-net", script, JSON.stringify(answer)], {});
}

async function start(args: string[], env: Record<string, string>): Promise<ServerProcess> {
  const started = performance.now();
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", ...args],
    cwd: ROOT,
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

/** The kernel counts in ticks of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readProc(pid, "stat")?.split(") ").at(-1)?.split(" ");
  return fields === undefined ? NaN : (Number(fields[11]) + Number(fields[12])) * 10;
}

function memoryMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readProc(pid, "status") ?? "")?.[1];
  return kib === undefined ? NaN : Number(kib) / 1_024;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
