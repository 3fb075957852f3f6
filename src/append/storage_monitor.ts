import type { Logger } from "../runtime/logger.ts";
import { reasonOf } from "../runtime/logger.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import type { Commit, Store } from "../store/store.ts";
import { StoreFullError } from "../store/store_errors.ts";

/** Minimum time between two reports, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Time between two probes of a full disk, in milliseconds. */
const PROBE_INTERVAL_MS = 1_000;

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
  /** Whether the last report said that the disk is full. */
  #isReported = false;
  /** Monotonic time in milliseconds of the last report. */
  #reportedAt = -Infinity;
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

  /** Probes and reports until the disk has space and this is reported. */
  async #watch(): Promise<void> {
    const { runtime, probe } = this.#deps;
    this.#isWatching = true;
    for (;;) {
      this.#report();
      if (this.#fault === undefined && !this.#isReported) break;
      await sleep(runtime, PROBE_INTERVAL_MS);
      // A probe that fails for another reason says nothing about the disk.
      if (this.#fault !== undefined) await probe().catch(() => {});
    }
    this.#isWatching = false;
  }

  /** Reports the state, unless the last report was less than {@linkcode REPORT_INTERVAL_MS} ago. */
  #report(): void {
    const { runtime, report } = this.#deps;
    if (runtime.monotonicNow() - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = runtime.monotonicNow();
    this.#isReported = this.#fault !== undefined;
    if (this.#fault === undefined) return report("info", "storage_available");
    report("error", "storage_full", {
      reason: reasonOf(this.#fault),
      remedy: "Free space on the disk of the store; the service then continues by itself",
    });
  }
}
