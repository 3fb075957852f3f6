import { type Logger, reasonOf } from "../runtime/logger.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import type { Commit, Store } from "../store/store.ts";
import { StoreFullError } from "../store/store_errors.ts";

/** Time between two probes of a full disk, in milliseconds. */
const PROBE_INTERVAL_MS = 1_000;

/** Number of probes between two reports. */
const PROBES_PER_REPORT = 10;

export interface StorageMonitorDeps {
  store: Store;
  runtime: Runtime;
  report: Logger;
  /** Makes a small commit through the monitor. */
  probe: () => Promise<void>;
}

/**
 * Makes the commits of the appender, and reports when the disk is full and when it has space again. It probes a
 * full disk, because an instance that is not ready may get no additions.
 */
export class StorageMonitor {
  #deps: StorageMonitorDeps;
  #fault: StoreFullError | undefined;
  #isWatching = false;

  constructor(deps: StorageMonitorDeps) {
    this.#deps = deps;
  }

  /** The error of the last commit if the disk was full; otherwise `undefined`. */
  get fault(): StoreFullError | undefined {
    return this.#fault;
  }

  async commit(commit: Commit): Promise<string | null> {
    try {
      const versionstamp = await this.#deps.store.commit(commit);
      if (versionstamp !== null) this.#fault = undefined;
      return versionstamp;
    } catch (error) {
      if (error instanceof StoreFullError) {
        this.#fault = error;
        if (!this.#isWatching) this.#watch();
      }
      throw error;
    }
  }

  /** Reports a full disk, and probes it, until it has space and this is reported. */
  async #watch(): Promise<void> {
    const { runtime, report, probe } = this.#deps;
    this.#isWatching = true;
    while (this.#fault !== undefined) {
      report("error", "storage_full", {
        reason: reasonOf(this.#fault),
        remedy: "Free space on the disk of the store; the service then continues by itself",
      });
      for (let probes = 0; probes < PROBES_PER_REPORT; probes++) {
        await sleep(runtime, PROBE_INTERVAL_MS);
        // A probe that fails for another reason says nothing about the disk.
        if (this.#fault !== undefined) await probe().catch(() => {});
      }
    }
    report("info", "storage_available");
    this.#isWatching = false;
  }
}
