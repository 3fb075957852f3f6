import { type StoreLocation, storeName } from "eventstore-less/startup";
import type { WaitsForStandby } from "eventstore-less/store";
import type { Logger } from "../runtime/logger.ts";

const REMEDY = "A fail-over may lose animals that clients got 201 for: on each server, set " +
  "synchronous_standby_names, or with Patroni synchronous_mode; see scripts/deploy/README.md, PostgreSQL";

/** Knows whether the commits of a store with several servers wait for a standby, and warns if they do not. */
export class Replication {
  #store: StoreLocation;
  #report: Logger;
  #waitsForStandby: WaitsForStandby | undefined;

  constructor(store: StoreLocation, report: Logger) {
    this.#store = store;
    this.#report = report;
  }

  /** Called at each connection, because another server is the primary after a fail-over. */
  async check(waitsForStandby: WaitsForStandby): Promise<void> {
    this.#waitsForStandby = waitsForStandby;
    if (await this.read() !== false) return;
    const store = storeName(this.#store);
    this.#report("warn", "commits_not_replicated", { store, remedy: REMEDY });
  }

  /** Asks the server, because its settings change without a restart. Resolves to `undefined` while it is not known. */
  async read(): Promise<boolean | undefined> {
    return await this.#waitsForStandby?.().catch(() => undefined);
  }
}
