import { isWanted, programAt, StoreServer, type StoreServers } from "./store_server.ts";
import { until } from "./until.ts";

/** The task installs it (https://crates.io/crates/denokv). */
const PROGRAM = new URL("../../.cache/denokv-0.14.0/bin/denokv", import.meta.url).pathname;

export const DENOKV: StoreServers = {
  name: "denokv",
  need: isWanted("TEST_DENOKV") ? programAt(PROGRAM) : { name: "TEST_DENOKV=1", isMet: false },
  cutShare: 0.05,
  start: () => DenokvServer.start(),
};

/** A real `denokv` on loopback, with its own file and token. */
export class DenokvServer extends StoreServer {
  readonly env = { DENO_KV_ACCESS_TOKEN: this.secret };

  static async start(): Promise<DenokvServer> {
    const server = new DenokvServer(await Deno.makeTempDir());
    await server.start();
    return server;
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

  async start(): Promise<void> {
    const file = `${this.folder}/kv.sqlite3`;
    this.spawn(PROGRAM, ["--sqlite-path", file, "serve", "--addr", `127.0.0.1:${this.port}`]);
    const ask = async () => (await fetch(this.address, { method: "POST" })).body?.cancel();
    await until(ask, "denokv does not listen");
  }
}
