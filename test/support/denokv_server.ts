import { freePort } from "./free_port.ts";
import type { StoreServer, StoreServers } from "./store_server.ts";

/** The variable with the path of `denokv`. Without it, the tests that need the program are ignored. */
export const DENOKV_VARIABLE = "TEST_DENOKV";

/** The path of the program, or `undefined` if the variable is not set or not readable. */
export function denokvProgram(): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: DENOKV_VARIABLE });
  return state === "granted" ? Deno.env.get(DENOKV_VARIABLE) : undefined;
}

/** The servers for tests that run on several kinds of them. */
export const DENOKV: StoreServers = {
  name: "denokv",
  ignore: denokvProgram() === undefined,
  start: () => DenokvServer.start(),
};

/** Maximum time until a server listens. */
const START_LIMIT_MS = 10_000;

/** A real `denokv` on loopback, with its own file and token. */
export class DenokvServer implements StoreServer {
  readonly token = crypto.randomUUID();
  #folder: string;
  #port: number;
  #process: Deno.ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Starts a server on an empty store. */
  static async start(): Promise<DenokvServer> {
    const server = new DenokvServer(await Deno.makeTempDir(), freePort());
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get address(): string {
    return this.addressAt(this.#port);
  }

  get env(): Record<string, string> {
    return { DENO_KV_ACCESS_TOKEN: this.token };
  }

  get secret(): string {
    return this.token;
  }

  addressAt(port: number): string {
    return `http://127.0.0.1:${port}`;
  }

  /** Starts it, also again on the same file and port. Resolves when it responds. */
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

  /** Ends it at once, like a failing machine. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.status;
    this.#process = undefined;
  }

  /** Pauses the process: it still accepts connections, but does not respond. */
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
