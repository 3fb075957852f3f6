import { splitLines } from "../../src/eventstore_less/log/lines.ts";
import { storeVariables } from "./real_store.ts";
import { asTask, commandOf, inShell, IS_ON_NODE } from "./programs.ts";
import { type Client, clientOf } from "./test_service.ts";
import { ROOT } from "./with_project_copy.ts";

/** Run the service as its task does, as one process or as several. The shell ignores the source file. */
export const AS_TASK = inShell(commandOf("start"));
export const SUPERVISED = inShell(commandOf("start", "several"));

/** Runs the source file of the service; on Node, the built program. */
export const RUN = IS_ON_NODE ? AS_TASK : [Deno.execPath(), "run", "--allow-all"];

/** A service in its own process, started as `deno task start` does, on loopback and a free port. */
export class ServiceProcess implements AsyncDisposable {
  /** The service's address: `http://127.0.0.1:PORT`. */
  address = "";
  /** Lines on standard error so far. */
  readonly lines: string[] = [];
  #process: Deno.ChildProcess;
  #reading: Promise<void> = Promise.resolve();

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
  }

  /** Resolves when the service listens. `[command, ...args]` runs its source file. */
  static start(
    kvPath: string,
    env: Record<string, string> = {},
    [command, ...args]: string[] = RUN,
  ): Promise<ServiceProcess> {
    const process = new Deno.Command(command, {
      args: [...args, "src/main.ts"],
      cwd: ROOT,
      env: { NO_COLOR: "1", HOST: "127.0.0.1", PORT: "0", ...storeVariables(kvPath), ...env },
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const service = new ServiceProcess(process);
    const { lines } = service;
    return new Promise((resolve, reject) => {
      service.#reading = readLines(process.stderr, (text) => {
        const line = asTask(text);
        lines.push(line);
        if (!line.includes('"listening"')) return;
        service.address = `http://127.0.0.1:${JSON.parse(line).port}`;
        resolve(service);
      }).then(() => reject(new Error(`The service did not start: ${lines.join("\n")}`)));
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  client(token: string): Client {
    return clientOf(token, (path, init) => fetch(`${this.address}${path}`, init));
  }

  send(path: string, token: string, init?: RequestInit): Promise<Response> {
    return this.client(token).send(path, init);
  }

  /** Adds a pet and resolves to the status code. */
  async add(pet: unknown, token: string, headers?: HeadersInit): Promise<number> {
    const response = await this.client(token).add(pet, headers);
    await response.body?.cancel();
    return response.status;
  }

  /** Stops the process as an operator does, and resolves to its exit code. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<number> {
    try {
      this.#process.kill(signal);
    } catch {
      // It has already exited.
    }
    return await this.ended();
  }

  async ended(): Promise<number> {
    const { code } = await this.#process.status;
    await this.#reading.catch(() => {});
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** Calls `take` with every line of a text stream, and waits for it. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => unknown,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const lines of splitLines(stream)) {
    for (const line of lines) await take(decoder.decode(line));
  }
}
