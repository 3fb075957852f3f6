import { describedAnswer } from "./assert_described.ts";
import { storeVariables } from "./real_store.ts";

const ROOT = new URL("../../", import.meta.url);

/** A service in its own process, started as `deno task start` does, on loopback and a free port. */
export class ServiceProcess implements AsyncDisposable {
  /** The service's address: `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** Lines on standard error so far. */
  readonly lines: string[];
  #process: Deno.ChildProcess;
  #reading: Promise<void>;

  private constructor(
    process: Deno.ChildProcess,
    address: string,
    lines: string[],
    reading: Promise<void>,
  ) {
    this.#process = process;
    this.address = address;
    this.lines = lines;
    this.#reading = reading;
  }

  /**
   * Resolves when the service listens. `within` is a command that runs another command, such as prlimit; `runtime` is
   * one that runs a source file.
   */
  static start(
    kvPath: string,
    env: Record<string, string> = {},
    within: string[] = [],
    runtime: string[] = [Deno.execPath(), "run", "--allow-all"],
  ): Promise<ServiceProcess> {
    const [command, ...args] = [...within, ...runtime, "src/main.ts"];
    const process = new Deno.Command(command, {
      args,
      cwd: ROOT,
      env: { NO_COLOR: "1", HOST: "127.0.0.1", PORT: "0", ...storeVariables(kvPath), ...env },
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const lines: string[] = [];
    return new Promise((resolve, reject) => {
      const reading = readLines(process.stderr, (line) => {
        lines.push(line);
        if (!line.includes('"listening"')) return;
        const address = `http://127.0.0.1:${JSON.parse(line).port}`;
        resolve(new ServiceProcess(process, address, lines, reading));
      }).then(() => reject(new Error(`The service did not start: ${lines.join("\n")}`)));
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Sends a signal that does not end the process. */
  signal(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  /** Sends a request with that key's token. */
  send(path: string, token: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    const pending = fetch(`${this.address}${path}`, { ...init, headers });
    return describedAnswer(init.method, path, pending);
  }

  /** Adds a pet and resolves to the status code. */
  async add(pet: unknown, token: string, headers: Record<string, string> = {}): Promise<number> {
    const response = await this.send("/v1/pets", token, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(pet),
    });
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

  /** Resolves to the exit code when the process has exited. */
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
  let open = "";
  for await (const chunk of stream) {
    const lines = (open + decoder.decode(chunk, { stream: true })).split("\n");
    open = lines.pop()!;
    for (const line of lines) await take(line);
  }
  if (open !== "") await take(open);
}
