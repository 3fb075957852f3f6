/** The only writer of an instance. `src/README.md` explains how it appends the events of commands. */

import { assertNever } from "../../encoding/assert_never.ts";
import { bytesEqual } from "../../encoding/bytes_equal.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { defectOf, type Logger } from "../../runtime/logger.ts";
import { backoffMs, sleep } from "../../runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { StoreError } from "../store/store_errors.ts";
import { type CommitOutcome, commitUntilKnown } from "../store/commit_until_known.ts";
import type { Instrumentation } from "../../runtime/instrumentation.ts";
import { type Base, type Batch, type BatchDeps, planBatch, type Settlement } from "./batch.ts";
import { type Appended, type Command, QueuedCommand } from "./command.ts";
import { CommitFailureLog } from "./commit_failure_log.ts";
import { ContentionBackoff } from "./contention_backoff.ts";
import { HeadWriter } from "./head_writer.ts";

/** Default of `appendLimitMs`: the longest wait of a command, from append() to its outcome, in milliseconds. */
export const APPEND_LIMIT_MS = 3_500;

/** Maximum number of waiting commands; append() rejects one more at once with `overloaded`. */
export const QUEUE_LIMIT = 2_048;

/** How often the deadlines of the commands are checked. */
const SWEEP_MS = 50;

/** A commit of this instance: the head that it replaced, the head after it, and its lines. */
export type Committed = Pick<Batch, "base" | "next" | "lines">;

export interface AppenderDeps extends BatchDeps {
  appendLimitMs: number;
  heads: HeadReader;
  instrumentation: Instrumentation;
  report: Logger;
  /** Called after every commit that landed, before the next one is planned. */
  onCommitted?: (committed: Committed) => void;
}

export class Appender {
  /** Its surroundings. Tests make them throw. */
  readonly deps: AppenderDeps;
  #waiting: QueuedCommand[] = [];
  /** The commands that are being planned or committed. */
  #inWork: readonly QueuedCommand[] = [];
  #backoff: ContentionBackoff;
  #failures: CommitFailureLog;
  #writer: HeadWriter;
  #running: Promise<void> | undefined;
  /** Pending while the settling of a batch is deferred to the next turn. */
  #settling: Promise<void> | undefined;
  #inFlight: Batch | undefined;
  /** The Idempotency-Keys of commits without a clear outcome since the head has moved: they may still land. */
  #unclearKeys = new Set<string>();
  /** Whether the last commit landed with one command, and none waited after it. */
  #wasAlone = false;
  #isDraining = false;
  #hasAnnounceFailed = false;
  /** Makes append() reject new commands with this error. */
  suspension: StoreError | undefined;

  constructor(deps: AppenderDeps) {
    this.deps = deps;
    this.#backoff = new ContentionBackoff(deps.runtime);
    this.#failures = new CommitFailureLog(deps);
    this.#writer = new HeadWriter({
      ...deps,
      isCommitting: () => this.#running !== undefined,
      onLanded: () => this.#failures.onLanded(),
    });
  }

  /**
   * Appends the events of the command exactly once. Rejects with the command's own refusal, with `overloaded`,
   * `shutting_down`, `storage_full` or `store_unavailable` (nothing was stored), or `outcome_unknown` (perhaps it was).
   */
  async append<Prepared>(command: Command<Prepared>): Promise<Appended<Prepared>> {
    const { runtime, appendLimitMs } = this.deps;
    if (this.#isDraining) throw new ServiceError("shutting_down", "The service is shutting down");
    if (this.suspension !== undefined) throw this.suspension;
    if (this.#waiting.length >= QUEUE_LIMIT) {
      throw new ServiceError("overloaded", "Too many requests wait for a commit");
    }
    const queued = new QueuedCommand(command, runtime.monotonicNow() + appendLimitMs);
    queued.mayHaveLanded = this.#isUnclear(command);
    this.#waiting.push(queued);
    this.#running ??= this.#run();
    return await queued.outcome as Appended<Prepared>;
  }

  /** Why commits fail; `undefined` if no lasting reason is known. */
  get fault(): StoreError | undefined {
    return this.suspension ?? this.#writer.fault;
  }

  get queueLength(): number {
    return this.#waiting.length;
  }

  /** Makes append() reject new commands, and resolves when every accepted command has its outcome. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#running;
    await this.#settling;
  }

  async #run(): Promise<void> {
    const { runtime } = this.deps;
    const stopSweep = this.#sweepOverdue();
    let failures = 0;
    let hasLanded = false;
    while (this.#waiting.length > 0) {
      if (this.#areOthersExpected(hasLanded)) await runtime.nextTurn();
      this.#wasAlone = false;
      const result = await this.#commitNext();
      hasLanded = result === "landed";
      if (hasLanded || result === "lost") failures = 0;
      if (result === "failed") {
        await sleep(runtime, backoffMs(runtime, failures));
        failures++;
      }
    }
    // In the same turn as the last check of the queue: a command queued in between would never be processed.
    this.#running = undefined;
    stopSweep();
  }

  /** Whether to yield once, so that commands that arrive together share a commit. */
  #areOthersExpected(hasLanded: boolean): boolean {
    if (hasLanded) return this.#waiting.length === 1;
    return !this.#wasAlone;
  }

  /** Plans a batch, commits and settles it, and pauses so that other instances can commit. Never rejects. */
  async #commitNext(): Promise<"landed" | "lost" | "nothing" | "failed"> {
    const { report, runtime } = this.deps;
    try {
      this.#failures.onAttempt();
      const batch = await this.#planNext();
      if (batch === undefined) return "nothing";
      const startedAt = runtime.monotonicNow();
      const outcome = await this.#commitUntilKnown(batch);
      const tookMs = runtime.monotonicNow() - startedAt;
      this.#settle(batch, outcome);
      switch (outcome.state) {
        case "landed":
          this.#announce(batch);
          this.#wasAlone = batch.members.length === 1 && this.#waiting.length === 0;
          await this.#pause(this.#backoff.onCommitted(tookMs));
          return "landed";
        case "lost":
          await this.#pause(this.#backoff.onConflict());
          return "lost";
        default:
          return "failed";
      }
    } catch (error) {
      // The defect may have kept them from waiting again.
      for (const queued of this.#inWork) queued.refuse(error);
      if (serviceErrorCode(error) !== undefined) this.#failures.onFailure("append", error);
      else report("error", "append_failed", defectOf(error));
      return "failed";
    } finally {
      this.#inWork = [];
    }
  }

  async #pause(pauseMs: number): Promise<void> {
    if (pauseMs > 0 && this.#waiting.length > 0) await sleep(this.deps.runtime, pauseMs);
  }

  /** Plans a batch of the commands that wait, and gives those their outcome that need no commit. */
  async #planNext(): Promise<Batch | undefined> {
    const base = await this.#base();
    const candidates = this.#waiting.filter(({ isSettled }) => !isSettled);
    this.#waiting = [];
    this.#inWork = candidates;
    const plan = await planBatch(this.deps, base, candidates);
    const { batch, settled, deferred, unconfirmed } = plan;
    for (const settlement of settled) settleWithoutCommit(settlement);
    for (const queued of unconfirmed) queued.needsFreshHead = true;
    // First come, first served: both came before the commands that wait by now.
    this.#waiting.unshift(...deferred, ...unconfirmed);
    this.#inWork = batch === undefined ? [] : batch.members.map(({ queued }) => queued);
    return batch;
  }

  /** The head to plan on, read for unconfirmed commands, and if others append: a read costs less than a conflict. */
  async #base(): Promise<Base> {
    const { heads, runtime } = this.deps;
    const readAt = runtime.monotonicNow();
    const isAnyUnconfirmed = this.#waiting.some(({ needsFreshHead }) => needsFreshHead);
    const mustRead = heads.latest === undefined || this.#backoff.areOthersNear || isAnyUnconfirmed;
    if (mustRead) await heads.read();
    if (this.#backoff.isStarving) await this.#writer.touch(heads.latest!);
    return { ...heads.latest!, readAt };
  }

  /** Commits a batch. Retries send it unchanged, until its commands have reached their deadlines. */
  #commitUntilKnown(batch: Batch): Promise<CommitOutcome> {
    const { runtime, heads, store } = this.deps;
    const { base, members, firstLogRecord } = batch;
    for (const { queued } of members) queued.mayHaveLanded = true;
    this.#inFlight = batch;
    return commitUntilKnown(runtime, {
      guard: base.versionstamp,
      commit: () => this.#writer.commitBatch(batch),
      readGuard: () => heads.read(),
      async hasLanded({ head }) {
        if (head.position <= base.head.position) return false;
        // Only one commit can have followed the base directly. If it is this one, its lines are stored.
        const entry = await store.get(firstLogRecord.key);
        return bytesEqual(entry?.value, firstLogRecord.value);
      },
      isOver: (isUnclear) => !isUnclear || members.every(({ queued }) => queued.isSettled),
      onFailure: (step, error) => this.#failures.onFailure(step, error),
    });
  }

  #settle(batch: Batch, outcome: CommitOutcome): void {
    const { heads, instrumentation } = this.deps;
    this.#inFlight = undefined;
    switch (outcome.state) {
      case "landed":
        this.#unclearKeys.clear();
        if (heads.latest!.head.position < batch.next.position) {
          throw new Error("A commit landed that the head does not show");
        }
        this.#acknowledge(batch);
        break;
      case "lost":
        instrumentation.count("commit.conflicts");
        this.#requeue(batch);
        // Only after the requeue: an earlier commit may have moved the head. From now on, none of them can land.
        this.#unclearKeys.clear();
        break;
      // "check_failed" does not occur, because the head is the only check.
      case "check_failed":
      case "not_applied":
        this.#requeue(batch);
        break;
      case "refused":
        for (const { queued } of batch.members) {
          queued.mayHaveLanded = this.#isUnclear(queued.command);
          queued.refuse(outcome.cause);
        }
        break;
      case "unclear":
        // Its commands were rejected at their deadlines.
        for (const { queued: { command } } of batch.members) {
          if (command.idempotencyKey !== undefined) this.#unclearKeys.add(command.idempotencyKey);
        }
        break;
      default:
        assertNever(outcome);
    }
    this.#inWork = [];
  }

  /** Announces a commit. What fails here is a defect, but no reason to fail a request. */
  #announce(committed: Committed): void {
    const { onCommitted, report } = this.deps;
    try {
      onCommitted?.(committed);
    } catch (error) {
      if (!this.#hasAnnounceFailed) report("error", "on_committed_failed", defectOf(error));
      this.#hasAnnounceFailed = true;
    }
  }

  /** Whether an earlier commit with the Idempotency-Key of a command may still land, or did. */
  #isUnclear({ idempotencyKey }: Command): boolean {
    return idempotencyKey !== undefined && this.#unclearKeys.has(idempotencyKey);
  }

  /** Requeues the commands of a batch that did not land and no longer can. */
  #requeue({ members }: Batch): void {
    for (const { queued } of members) queued.mayHaveLanded = this.#isUnclear(queued.command);
    this.#waiting.unshift(...members.map(({ queued }) => queued));
  }

  /** Resolves the commands of a batch. If others wait, their commit starts first, so that the store works meanwhile. */
  #acknowledge({ members, lines: committed }: Batch): void {
    const { instrumentation, runtime } = this.deps;
    const resolve = () => {
      for (const { event: { type } } of committed) {
        instrumentation.count("events.appended", { type });
      }
      for (const { queued, prepared, lines } of members) {
        queued.resolve({ events: lines.map(({ event }) => event), prepared });
      }
    };
    if (this.#waiting.length === 0) resolve();
    else this.#settling = runtime.nextTurn().then(resolve);
  }

  /** Rejects commands at their deadlines. Returns a function that ends this. */
  #sweepOverdue(): () => void {
    const { runtime, appendLimitMs } = this.deps;
    let cancel = () => {};
    const sweep = () => {
      const now = runtime.monotonicNow();
      const keyOf = ({ command }: QueuedCommand) => command.idempotencyKey;
      const inFlight = new Set(this.#inFlight?.members.map(({ queued }) => keyOf(queued)));
      inFlight.delete(undefined);
      for (const queued of this.#waiting) {
        // An event of another command with the same Idempotency-Key is the outcome of this one, too.
        if (inFlight.has(keyOf(queued))) queued.mayHaveLanded = true;
      }
      for (const queued of [...this.#inWork, ...this.#waiting]) {
        if (queued.deadline <= now) queued.rejectOverdue(appendLimitMs);
      }
      cancel = runtime.setTimer(SWEEP_MS, sweep);
    };
    sweep();
    return () => cancel();
  }
}

/** Gives a command the outcome that depends on no commit. */
function settleWithoutCommit(settlement: Settlement): void {
  const { kind, queued } = settlement;
  switch (kind) {
    case "without_events":
      return queued.resolve({ events: [], prepared: settlement.prepared });
    case "refused":
      return queued.refuse(settlement.reason);
    default:
      assertNever(kind);
  }
}
