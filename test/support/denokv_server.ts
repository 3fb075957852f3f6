import { freePort } from "./free_port.ts";
import { isWanted, type StoreServer, type StoreServers, until } from "./store_server.ts";

/** https://crates.io/crates/denokv */
export const DENOKV_VERSION = "0.14.0";

/** The folder into which cargo installs it. */
export const DENOKV_FOLDER =
  new URL(`../../.cache/denokv-${DENOKV_VERSION}`, import.meta.url).pathname;

const PROGRAM = `${DENOKV_FOLDER}/bin/denokv`;

/** Whether the program is installed. */
export function isBuilt(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The servers for tests that run on several kinds of them. */
export const DENOKV: StoreServers = {
  name: "denokv",
  ignore: !isWanted("TEST_DENOKV") || !isBuilt(),
  cutShare: 0.05,
  start: () => DenokvServer.start(),
};

/** A real `denokv` on loopback, with its own file and token. */
export class DenokvServer implements StoreServer {
  readonly port = freePort();
  readonly secret = crypto.randomUUID();
  #folder: string;
  #process: Deno.ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts a server on an empty store. */
  static async start(): Promise<DenokvServer> {
    const server = new DenokvServer(await Deno.makeTempDir());
    await server.start();
    return server;
  }

  get address(): string {
    return this.addressAt(this.port);
  }

  get env(): Record<string, string> {
    return { DENO_KV_ACCESS_TOKEN: this.secret };
  }

  wrongSecret() {
    const { address } = this;
    const message = `Cannot open the store ${address} (KV_PATH): ` +
      "it refuses the access token (DENO_KV_ACCESS_TOKEN)";
    return { address, env: { DENO_KV_ACCESS_TOKEN: "some-other-token" }, message };
  }

  addressAt(port: number): string {
    return `http://127.0.0.1:${port}`;
  }

  /** Starts it, also again on the same file and port. Resolves when it responds. */
  async start(): Promise<void> {
    this.#process = new Deno.Command(PROGRAM, {
      args: [
        ["--sqlite-path", `${this.#folder}/kv.sqlite3`],
        ["serve", "--addr", `127.0.0.1:${this.port}`],
      ].flat(),
      env: this.env,
      stdout: "null",
      stderr: "null",
    }).spawn();
    const ask = async () => (await fetch(this.address, { method: "POST" })).body?.cancel();
    await until(ask, "denokv does not listen");
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
