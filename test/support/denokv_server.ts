import { freePort } from "./free_port.ts";

/** Names the `denokv` program to the tests that need it; without it they are left out. */
export const DENOKV_VARIABLE = "TEST_DENOKV";

/** The program, where the tests were given one and may run it. */
export function denokvProgram(): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: DENOKV_VARIABLE });
  return state === "granted" ? Deno.env.get(DENOKV_VARIABLE) : undefined;
}

/** How long a server may take to listen. */
const START_LIMIT_MS = 10_000;

/** A real `denokv` on loopback, with a file and a token of its own. */
export class DenokvServer implements AsyncDisposable {
  readonly address: string;
  readonly token = crypto.randomUUID();
  #folder: string;
  #port: number;
  #process: Deno.ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.address = `http://127.0.0.1:${port}`;
  }

  /** Starts one on a store that is empty. */
  static async start(): Promise<DenokvServer> {
    const server = new DenokvServer(await Deno.makeTempDir(), freePort());
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /** Starts it, or starts it again on the same file and port. Resolves when it answers. */
  async start(): Promise<void> {
    const program = denokvProgram();
    if (program === undefined) throw new Error(`${DENOKV_VARIABLE} does not name denokv`);
    this.#process = new Deno.Command(program, {
      args: [
        ["--sqlite-path", `${this.#folder}/kv.sqlite3`],
        ["serve", "--addr", `127.0.0.1:${this.#port}`],
      ].flat(),
      env: { DENO_KV_ACCESS_TOKEN: this.token },
      stdout: "null",
      stderr: "null",
    }).spawn();
    const deadline = Date.now() + START_LIMIT_MS;
    while (!await answers(this.address)) {
      if (Date.now() > deadline) throw new Error("denokv does not listen");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it at once, as a failing machine would. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.status;
    this.#process = undefined;
  }

  /** Stops it without ending it: it still takes connections, and answers nothing. */
  pause(): void {
    this.#process!.kill("SIGSTOP");
  }

  resume(): void {
    this.#process!.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function answers(address: string): Promise<boolean> {
  try {
    await (await fetch(address, { method: "POST" })).body?.cancel();
    return true;
  } catch {
    return false;
  }
}
