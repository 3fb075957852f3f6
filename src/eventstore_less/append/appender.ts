/** The only writer of an instance. "An append, from command to acknowledgement" in eventstore_less/README.md explains it. */

import { assertNever } from "../../encoding/assert_never.ts";
import { bytesEqual } from "../../encoding/bytes_equal.ts";
import type { HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { defectOf, type Logger } from "../../runtime/logger.ts";
import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import type { StoreError } from "../store/store_errors.ts";
import { type CommitOutcome, commitUntilKnown } from "../store/commit_until_known.ts";
import type { Instrumentation } from "../../runtime/instrumentation.ts";
import { type Batch, type Plan, planBatch, type Planned } from "./batch.ts";
import { type Appended, type Command, QueuedCommand } from "./command.ts";
import { CommitFailureLog } from "./commit_failure_log.ts";
import { HeadWriter } from "./head_writer.ts";
import { Turns } from "./turns.ts";

/** Default of `appendLimitMs`: the longest wait of a command, from append() to its outcome, in milliseconds. */
export const APPEND_LIMIT_MS = 3_500;

/** Maximum number of waiting commands; append() rejects one more at once with `overloaded`. */
export const QUEUE_LIMIT = 2_048;

/** How often the deadlines of the commands are checked. */
const SWEEP_MS = 50;

/** A commit of this instance: the head that it replaced, the head after it, and its lines. */
export type Committed = Pick<Batch, "base" | "next" | "lines">;

export interface AppenderDeps {
  appendLimitMs: number;
  heads: HeadReader;
  instrumentation: Instrumentation;
  report: Logger;
  runtime: Runtime;
  store: Store;
  /** Called after every commit that landed, before the next one is planned. */
  onCommitted?: (committed: Committed) => void;
}

/**
 * How a step ends: its plan is confirmed, or the head moved before that, or the store failed. After each failure in a row,
 * the next step waits longer.
 */
type StepResult = "confirmed" | "outdated" | "failed";

export class Appender {
  /** Its surroundings. Tests make them throw. */
  readonly deps: AppenderDeps;
  #waiting: QueuedCommand[] = [];
  /** The commands that the current step has taken. */
  #inWork: readonly QueuedCommand[] = [];
  /** Identities of commands. A commit that has such a command may be stored, or may still land. */
  #mayBeStored: ReadonlySet<unknown> = new Set();
  #turns: Turns;
  #failureLog: CommitFailureLog;
  #writer: HeadWriter;
  #running: Promise<void> | undefined;
  #isSweeping = false;
  #isDraining = false;
  /** Makes append() reject new commands with this error. */
  suspension: StoreError | undefined;

  constructor(deps: AppenderDeps) {
    this.deps = deps;
    this.#turns = new Turns(deps);
    this.#failureLog = new CommitFailureLog(deps);
    this.#writer = new HeadWriter({
      ...deps,
      isCommitting: () => this.#running !== undefined,
      onLanded: () => this.#failureLog.onLanded(),
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
    this.#waiting.push(queued);
    if (!this.#isSweeping) this.#sweepOverdue();
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
  }

  async #run(): Promise<void> {
    const { runtime } = this.deps;
    let failedSteps = 0;
    while (this.#waiting.length > 0) {
      // Yield once so that commands that arrive together share a commit.
      await runtime.nextTurn();
      const result = await this.#step();
      failedSteps = result === "failed" ? failedSteps + 1 : 0;
      if (failedSteps > 0) await sleep(runtime, backoffMs(runtime, failedSteps - 1));
    }
    // In the same turn as the last check of the queue. Otherwise, a command queued in between would never be processed.
    this.#running = undefined;
  }

  /** Takes the commands that wait, plans them, and settles them if the plan is confirmed. The others wait again. Never rejects. */
  async #step(): Promise<StepResult> {
    this.#failureLog.onAttempt();
    const base = await this.#base();
    if (base === undefined) return "failed";
    const startedAt = this.deps.runtime.monotonicNow();
    const candidates = this.#waiting.filter(({ isSettled }) => !isSettled);
    this.#inWork = candidates.slice(0, this.#turns.limit);
    this.#waiting = candidates.slice(this.#turns.limit);
    try {
      const plan = await planBatch(this.deps.store.limits, base, this.#inWork);
      this.#noteFailedPreparation(plan);
      const result = await this.#confirm(plan);
      const stepMs = this.deps.runtime.monotonicNow() - startedAt;
      if (result === "outdated") this.#turns.onLost(this.#inWork.length, stepMs);
      if (result !== "confirmed") return result;
      this.#turns.onConfirmed();
      if (plan.batch !== undefined) this.#turns.onLanded(stepMs);
      for (const planned of plan.planned) this.#settle(planned);
      if (plan.batch !== undefined) this.#announce(plan.batch);
      return result;
    } catch (error) {
      // A defect: without this, they would have no outcome before their deadlines.
      for (const queued of this.#inWork) this.#refuse(queued, error);
      this.#noteFailure(error);
      return "failed";
    } finally {
      // In front, because they came before the commands that have arrived meanwhile.
      this.#waiting.unshift(...this.#inWork.filter(({ isSettled }) => !isSettled));
      this.#inWork = [];
    }
  }

  /** The head to plan on, when it is the turn of this instance; `undefined` if it cannot be read. */
  async #base(): Promise<HeadEntry | undefined> {
    try {
      await this.#turns.wait();
      return this.deps.heads.latest ?? await this.deps.heads.read();
    } catch (error) {
      this.#noteFailure(error);
      return undefined;
    }
  }

  /** Reports one failed preparation, because the others have probably failed for the same reason. */
  #noteFailedPreparation({ planned }: Plan): void {
    for (const { fate } of planned) {
      if (fate.kind !== "waits" || fate.storeError === undefined) continue;
      return this.#noteFailure(fate.storeError);
    }
  }

  #noteFailure(error: unknown): void {
    if (serviceErrorCode(error) !== undefined) this.#failureLog.onFailure("append", error);
    else this.deps.report("error", "append_failed", defectOf(error));
  }

  /**
   * Confirms that the head was still the base of a plan after all its reads. A commit that lands shows this, also for the
   * refusals of its plan. Without a commit, a read of the head shows it.
   */
  async #confirm({ base, batch, planned }: Plan): Promise<StepResult> {
    if (batch !== undefined) return await this.#commit(batch);
    if (planned.every(({ fate }) => fate.kind === "waits")) return "failed";
    try {
      const head = await this.deps.heads.read();
      return head.versionstamp === base.versionstamp ? "confirmed" : "outdated";
    } catch (error) {
      this.#noteFailure(error);
      return "failed";
    }
  }

  /** Commits a batch. Meanwhile, and while the outcome is unclear, notes its commands as perhaps stored. */
  async #commit(batch: Batch): Promise<StepResult> {
    const { heads, instrumentation } = this.deps;
    const before = this.#mayBeStored;
    this.#mayBeStored = before.union(new Set(batch.members.map(({ queued }) => queued.identity)));
    const outcome = await this.#commitUntilKnown(batch);
    switch (outcome.state) {
      case "landed":
        if (heads.latest!.head.position < batch.next.position) {
          throw new Error("A commit landed that the head does not show");
        }
        this.#noteMoved(this.#mayBeStored);
        return "confirmed";
      case "lost":
        instrumentation.count("commit.conflicts");
        this.#noteMoved(before);
        return "outdated";
      case "refused":
        this.#mayBeStored = before;
        for (const { queued } of batch.members) this.#refuse(queued, outcome.cause);
        return "failed";
      case "not_applied":
        this.#mayBeStored = before;
        return "failed";
      case "unclear":
        // Its commands were rejected at their deadlines. Only an Idempotency-Key can come again.
        this.#mayBeStored = new Set([...this.#mayBeStored].filter((it) => typeof it === "string"));
        return "failed";
      default:
        assertNever(outcome);
    }
  }

  /**
   * Call it if the head has moved: no earlier commit can land any more. Keeps an Idempotency-Key of which an event may
   * be stored while another command with it waits, because that command finds the event only when it is prepared again.
   */
  #noteMoved(identities: ReadonlySet<unknown>): void {
    const queued = [...this.#inWork, ...this.#waiting].map(({ command }) => command.idempotencyKey);
    this.#mayBeStored = new Set(queued.filter((it) => it !== undefined && identities.has(it)));
  }

  /** Retries send the same batch, until its commands have reached their deadlines. */
  #commitUntilKnown(batch: Batch): Promise<CommitOutcome> {
    const { runtime, heads, store } = this.deps;
    const { base, members, firstLogRecord } = batch;
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
      onFailure: (step, error) => this.#failureLog.onFailure(step, error),
    });
  }

  /** Gives a command its outcome after its plan is confirmed. */
  #settle({ queued, fate }: Planned): void {
    switch (fate.kind) {
      case "adds": {
        const events = fate.lines.map(({ event }) => event);
        for (const { type } of events) {
          this.deps.instrumentation.count("events.appended", { type });
        }
        return queued.resolve({ events, prepared: fate.prepared });
      }
      case "adds_nothing":
        return queued.resolve({ events: [], prepared: fate.prepared });
      case "refused":
        return this.#refuse(queued, fate.reason);
      case "waits":
        return;
      default:
        assertNever(fate);
    }
  }

  #refuse(queued: QueuedCommand, reason: unknown): void {
    queued.refuse(reason, this.#mayBeStored.has(queued.identity));
  }

  /** Announces a commit. An error here is a defect, but no reason to fail a request. */
  #announce(committed: Committed): void {
    const { onCommitted, report } = this.deps;
    try {
      onCommitted?.(committed);
    } catch (error) {
      report("error", "on_committed_failed", defectOf(error));
    }
  }

  /**
   * Rejects commands at their deadlines, every {@linkcode SWEEP_MS} while any command waits or is in work. A timer that
   * is set and cancelled for each command would take a tenth of the time of a lone one (measured).
   */
  #sweepOverdue(): void {
    const { runtime, appendLimitMs } = this.deps;
    const commands = [...this.#inWork, ...this.#waiting];
    this.#isSweeping = commands.length > 0;
    if (!this.#isSweeping) return;
    const now = runtime.monotonicNow();
    for (const queued of commands) {
      if (queued.isSettled || queued.deadline > now) continue;
      queued.rejectOverdue(appendLimitMs, this.#mayBeStored.has(queued.identity));
    }
    runtime.setTimer(SWEEP_MS, () => this.#sweepOverdue());
  }
}
