import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import {
  isWriteFault,
  mayHaveLanded,
  StoreAwayError,
  StoreRefusedError,
} from "../store/store_errors.ts";
import type { Instrumentation } from "../runtime/instrumentation.ts";
import { WithheldError } from "./head_writer.ts";

/** Commits that are not applied are reported after this time, in milliseconds: a lock is usually shorter. */
const SHORT_LOCK_MS = 500;

/** The event of each step that fails without a clear outcome, or that the store refuses. */
const FAILURES = {
  append: "append_failed",
  commit: "commit_failed",
  read_back: "read_back_failed",
} as const;

export interface CommitFailureLogDeps {
  instrumentation: Instrumentation;
  report: Logger;
  runtime: Runtime;
}

/** Logs what fails on the way to a commit, unless the store reports it as an outage, or `HeadWriter` reports it as a fault. */
export class CommitFailureLog {
  #deps: CommitFailureLogDeps;
  /** Number of commits that were not applied since one landed. */
  #notApplied = 0;
  /** Monotonic time in milliseconds at which the first attempt began that was not applied. */
  #failingSince = 0;

  constructor(deps: CommitFailureLogDeps) {
    this.#deps = deps;
  }

  onAttempt(): void {
    if (this.#notApplied === 0) this.#failingSince = this.#deps.runtime.monotonicNow();
  }

  onLanded(): void {
    if (this.#notApplied === 0) return;
    this.#notApplied = 0;
    this.#deps.report("info", "commits_applied", { ends: "commits_not_applied" });
  }

  onFailure(step: keyof typeof FAILURES, error: unknown): void {
    const { instrumentation, report } = this.#deps;
    if (isWriteFault(error) || error instanceof WithheldError) return;
    const isRefused = error instanceof StoreRefusedError;
    if (isRefused || mayHaveLanded(error)) {
      report("warn", FAILURES[step], { reason: reasonOf(error) });
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
    if (runtime.monotonicNow() - this.#failingSince < SHORT_LOCK_MS) return;
    report("warn", "commits_not_applied", { reason: reasonOf(error), count: this.#notApplied });
  }
}
