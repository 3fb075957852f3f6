/** The share that a process has in a port of several processes: it leaves the port to the others while only they are ready. */

import { connect } from "node:net";
import type { Logger } from "../runtime/logger.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import type { Address } from "../settings/config.ts";

const INTERVAL_MS = 1_000;

/** So many checks in a row must find that a process is not ready, but another one is. One after the other, processes notice that a store is back. */
const UNREADY_LIMIT = 3;

/** The system chooses the process that gets a connection. So many connections of two processes nearly surely reach both. */
const PROBES = 8;

const PROBE_LIMIT_MS = 1_000;

interface PortShareOptions {
  /** The address at which the processes listen. */
  address: Address;
  isReady: () => Promise<boolean>;
  runtime: Runtime;
  report: Logger;
}

export class PortShare {
  #options: PortShareOptions;

  constructor(options: PortShareOptions) {
    this.#options = options;
  }

  /** Resolves when this process should listen: it is ready, or no other process is. */
  async untilNeeded(): Promise<void> {
    const { report, runtime } = this.#options;
    if (await this.#isNeeded()) return;
    const remedy = "The other processes serve; the line not_ready says what this one lacks";
    report("warn", "not_listening", { remedy });
    while (!await this.#isNeeded()) await sleep(runtime, INTERVAL_MS);
  }

  /** Resolves when this process, which listens, should leave the port: it is not ready, but another process is. */
  async untilUnneeded(): Promise<void> {
    const { runtime } = this.#options;
    let found = 0;
    while (found < UNREADY_LIMIT) {
      await sleep(runtime, INTERVAL_MS);
      const isNeeded = await this.#isNeeded();
      found = isNeeded ? 0 : found + 1;
    }
  }

  /** Whether this process is ready, or no other process is. */
  async #isNeeded(): Promise<boolean> {
    return await this.#options.isReady() || !await this.#isServed();
  }

  /** Whether a process of the port is ready. This one, which is not, may get some of the probes. */
  async #isServed(): Promise<boolean> {
    const probes = Array.from({ length: PROBES }, () => this.#probe());
    return (await Promise.all(probes)).includes(true);
  }

  /** Each probe must have a connection of its own: a client such as `fetch` would use one again. */
  #probe(): Promise<boolean> {
    const { address: { hostname: host, port } } = this.#options;
    const socket = connect({ host, port, timeout: PROBE_LIMIT_MS });
    return new Promise<boolean>((resolve) => {
      socket.on("data", (start) => resolve(/^HTTP\/1\.[01] 200 /.test(String(start))));
      for (const end of ["close", "error", "timeout"]) socket.on(end, () => resolve(false));
      socket.write("GET /readyz HTTP/1.0\r\n\r\n");
    }).finally(() => socket.destroy());
  }
}
