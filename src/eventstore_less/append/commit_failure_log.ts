import { type Logger, reasonOf } from "../../runtime/logger.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import {
  isWriteFault,
  mayHaveLanded,
  StoreAwayError,
  StoreRefusedError,
} from "../store/store_errors.ts";
import type { Instrumentation } from "../../runtime/instrumentation.ts";
import { WithheldError } from "./head_writer.ts";

/** Commits that are not applied are reported after this time, in milliseconds: a lock is usually shorter. */
const SHORT_LOCK_MS = 500;

/** Time between two such reports, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

export interface CommitFailureLogDeps {
  instrumentation: Instrumentation;
  report: Logger;
  runtime: Runtime;
}

/** Logs what fails on the way to a commit, unless the store reports it as an outage, or {@linkcode HeadWriter} does. */
export class CommitFailureLog {
  #deps: CommitFailureLogDeps;
  /** Number of commits that were not applied since one landed. */
  #notApplied = 0;
  /** Monotonic time in milliseconds from which they may be reported again. */
  #reportNotAppliedFrom = -Infinity;

  constructor(deps: CommitFailureLogDeps) {
    this.#deps = deps;
  }

  onAttempt(): void {
    if (this.#notApplied > 0) return;
    const end = this.#deps.runtime.monotonicNow() + SHORT_LOCK_MS;
    this.#reportNotAppliedFrom = Math.max(this.#reportNotAppliedFrom, end);
  }

  onLanded(): void {
    this.#notApplied = 0;
  }

  onFailure(step: "append" | "commit" | "read_back", error: unknown): void {
    const { instrumentation, report } = this.#deps;
    if (isWriteFault(error) || error instanceof WithheldError) return;
    const isRefused = error instanceof StoreRefusedError;
    if (isRefused || mayHaveLanded(error)) {
      report("warn", `${step}_failed`, { reason: reasonOf(error) });
      const isUnclear = step === "commit" && !isRefused;
      if (isUnclear) instrumentation.count("commit.unclear");
      return;
    }
    const isReportedElsewhere = step === "read_back" || error instanceof StoreAwayError;
    if (!isReportedElsewhere) this.#onNotApplied(error);
  }

  #onNotApplied(error: unknown): void {
    const { report, runtime } = this.#deps;
    this.#notApplied++;
    const now = runtime.monotonicNow();
    if (now < this.#reportNotAppliedFrom) return;
    this.#reportNotAppliedFrom = now + REPORT_INTERVAL_MS;
    report("warn", "commits_not_applied", { reason: reasonOf(error), count: this.#notApplied });
  }
}
