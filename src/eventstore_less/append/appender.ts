/** The only writer of an instance. "An append, from command to acknowledgement" in eventstore_less/internals.md explains it. */

import { assertNever } from "../encoding/assert_never.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import type { Application } from "../application.ts";
import type { Body, Head, RecordedLine } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { defectOf, type Logger } from "../runtime/logger.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/store_errors.ts";
import { type CommitOutcome, commitUntilKnown } from "../store/commit_until_known.ts";
import type { Instrumentation } from "../runtime/instrumentation.ts";
import { type Batch, effectsOf, type Plan, planBatch, type Planned } from "./batch.ts";
import type { Appended, Command } from "./command.ts";
import { CommandQueue } from "./command_queue.ts";
import { CommitFailureLog } from "./commit_failure_log.ts";
import { HeadWriter } from "./head_writer.ts";
import { QueuedCommand } from "./queued_command.ts";
import { takenSubjects } from "./taken_subjects.ts";
import { Turns } from "./turns.ts";

/** Default of `appendLimitMs`: the longest wait of a command, from append() to its outcome, in milliseconds. */
export const APPEND_LIMIT_MS = 3_500;

/** How often the deadlines of the commands are checked, and whether a plan waits no longer for slow preparations. */
const SWEEP_MS = 50;

/** How long a plan waits for the preparation of a command: until the first sweep after this time, in milliseconds. */
const PATIENCE_MS = 25;

/** Number of records of a command with one event and an Idempotency-Key, for the first estimate of what a commit takes. */
const USUAL_RECORDS = 2;

/** A commit of this instance that landed. */
export interface Committed<EventBody extends Body = Body> {
  /** The head on which the commit was made. */
  base: HeadEntry;
  /** The head after it. */
  next: Head;
  /** The lines that the commit has stored, in order. */
  lines: readonly RecordedLine<EventBody>[];
}

/** The surroundings of an {@linkcode Appender}. */
export interface AppenderDeps<EventBody extends Body = Body> {
  /** The definitions of the events that it appends. */
  application: Application<EventBody>;
  /** The longest wait of a command, from append() to its outcome, in milliseconds. */
  appendLimitMs: number;
  /** The reader that shares the head with those who read records. */
  heads: HeadReader;
  /** Counts events, conflicts and unclear commits. */
  instrumentation: Instrumentation;
  /** Logs changes of the state, and failures. */
  report: Logger;
  /** Time, timers and random numbers. */
  runtime: Runtime;
  /** The store of the log and of the records. */
  store: Store;
  /** Called after every commit that landed, before the next one is planned. */
  onCommitted?(committed: Committed<EventBody>): void;
}

/**
 * How a step ends: its plan is confirmed, or the head moved before that, or the store failed. After each failure in a row,
 * the next step waits longer.
 */
type StepResult = "confirmed" | "outdated" | "failed";

/**
 * The only writer of an instance. It joins commands that arrive together in one commit, and commits again if another
 * instance was faster.
 */
export class Appender<EventBody extends Body = Body> {
  /** Its surroundings. Tests make them throw. */
  readonly deps: AppenderDeps<EventBody>;
  #waiting = new CommandQueue();
  /** The commands that the current step has taken. */
  #inWork: readonly QueuedCommand[] = [];
  /** Identities of commands. A commit that has such a command may be stored, or may still land. */
  #mayBeStored: ReadonlySet<unknown> = new Set();
  /** About how many commands fit into a commit, as the last full one has shown. */
  #fit: number;
  /** Since when the step waits for preparations, and how to end this wait; absent while it does not. */
  #preparing: { since: number; end: () => void } | undefined;
  #turns: Turns;
  #failureLog: CommitFailureLog;
  #writer: HeadWriter;
  #running: Promise<void> | undefined;
  #isSweeping = false;
  #isDraining = false;
  /** Makes append() reject new commands with this error. */
  suspension: StoreError | undefined;

  /** Starts nothing before the first command. */
  constructor(deps: AppenderDeps<EventBody>) {
    this.deps = deps;
    this.#fit = Math.floor(deps.store.limits.commitMutations / USUAL_RECORDS);
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
  async append<Prepared>(
    command: Command<Prepared, EventBody>,
  ): Promise<Appended<Prepared, EventBody>> {
    const { runtime, appendLimitMs } = this.deps;
    if (this.#isDraining) throw new ServiceError("shutting_down", "The service is shutting down");
    if (this.suspension !== undefined) throw this.suspension;
    const queued = new QueuedCommand(command, runtime.monotonicNow() + appendLimitMs);
    this.#waiting.add(queued);
    if (!this.#isSweeping) this.#sweep();
    this.#start();
    return await queued.outcome as Appended<Prepared, EventBody>;
  }

  /** Why commits fail; `undefined` if no lasting reason is known. */
  get fault(): StoreError | undefined {
    return this.suspension ?? this.#writer.fault;
  }

  /** Number of commands that wait for a commit. */
  get queueLength(): number {
    return this.#waiting.length;
  }

  /** Makes append() reject new commands, and resolves when every accepted command has its outcome. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    // While all that wait are being prepared, no step runs.
    await Promise.allSettled(this.#commands().map(({ outcome }) => outcome));
    await this.#running;
  }

  #start(): void {
    // A run that finds nothing to do would end before it is noted here.
    if (this.#running === undefined && this.#waiting.canTake) this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { runtime } = this.deps;
    let failedSteps = 0;
    while (this.#waiting.canTake) {
      // Yield once so that commands that arrive together share a commit.
      await runtime.nextTurn();
      const result = await this.#step();
      failedSteps = result === "failed" ? failedSteps + 1 : 0;
      if (failedSteps > 0) await sleep(runtime, backoffMs(runtime, failedSteps - 1));
    }
    // In the same turn as the last check of the queue. Otherwise, a command queued in between would never be processed.
    this.#running = undefined;
  }

  /** All commands without an outcome. */
  #commands(): QueuedCommand[] {
    return [...this.#inWork, ...this.#waiting.commands].filter(({ isSettled }) => !isSettled);
  }

  /** Takes commands that wait, plans them, and settles them if the plan is confirmed. The others wait again. Never rejects. */
  async #step(): Promise<StepResult> {
    this.#failureLog.onAttempt();
    const base = await this.#base();
    if (base === undefined) return "failed";
    const startedAt = this.deps.runtime.monotonicNow();
    this.#inWork = this.#waiting.take(Math.min(this.#turns.limit, this.#fit));
    try {
      await this.#prepare(base);
      const plan = await this.#plan(base);
      if (plan === undefined) return "failed";
      this.#noteFit(plan);
      this.#noteFailedPreparation(plan);
      this.#forgetUndecided(plan);
      // They are still being prepared, or have been rejected meanwhile.
      if (plan.planned.length === 0) return "confirmed";
      const result = await this.#confirm(plan);
      const stepMs = this.deps.runtime.monotonicNow() - startedAt;
      if (result === "outdated") this.#turns.onLost(this.#inWork.length, stepMs);
      if (result !== "confirmed") return result;
      this.#turns.onConfirmed();
      if (plan.batch !== undefined) this.#turns.onLanded(stepMs);
      for (const planned of plan.planned) this.#settle(planned);
      if (plan.batch !== undefined) {
        this.#followWithPreparations(plan.batch);
        this.#announce(plan.batch as Batch & Committed<EventBody>);
      }
      return result;
    } catch (error) {
      // A defect: without this, they would have no outcome before their deadlines.
      for (const queued of this.#inWork) this.#refuse(queued, error);
      this.#noteFailure(error);
      return "failed";
    } finally {
      const rest = this.#inWork.filter(({ isSettled }) => !isSettled);
      this.#waiting.putBack(rest);
      this.#inWork = [];
      for (const { isPreparing, preparation } of rest) {
        if (isPreparing) void preparation!.ended.then(() => this.#start());
      }
    }
  }

  /**
   * Prepares the commands in work. Resolves when all are prepared or settled, or when a sweep finds that the others take
   * too long. These continue in the background, and do not delay others.
   */
  async #prepare(base: HeadEntry): Promise<void> {
    for (const queued of this.#inWork) queued.prepareOn(base);
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#preparing = { since: this.deps.runtime.monotonicNow(), end };
    await Promise.race([promise, Promise.all(this.#inWork.map((it) => it.preparation!.ended))]);
    this.#preparing = undefined;
  }

  /**
   * The plan on a base, of commands that wait for their outcome; `undefined` if the store fails. Each refusal can change the
   * events of the commands after it.
   */
  async #plan(base: HeadEntry): Promise<Plan | undefined> {
    const { application, store } = this.deps;
    const refusals = new Map<QueuedCommand, Error>();
    const isOpen = ({ isSettled }: QueuedCommand) => !isSettled;
    try {
      for (;;) {
        const open = this.#inWork.filter(isOpen);
        const plan = planBatch(application, store.limits, base, open, refusals);
        const taken = await takenSubjects(application, store, plan);
        // Its deadline may have passed meanwhile, with the error that nothing was stored.
        const isCurrent = plan.planned.every(({ queued }) => isOpen(queued));
        if (isCurrent && taken.size === 0) return plan;
        for (const [queued, reason] of taken) refusals.set(queued, reason);
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#noteFailure(error);
      return undefined;
    }
  }

  /** A plan with fewer commands than were tried shows little, because each commit also has the head and a log record. */
  #noteFit({ fit, isCut }: Plan): void {
    if (fit !== undefined && (isCut || this.#inWork.length >= this.#fit)) this.#fit = fit;
  }

  /** Keeps the preparations that are valid after a commit, too. */
  #followWithPreparations(batch: Batch): void {
    const prepared = this.#commands().filter(({ preparation }) => preparation !== undefined);
    if (prepared.length === 0) return;
    const effects = effectsOf(batch);
    for (const { preparation } of prepared) preparation!.follow(effects);
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

  /** Makes the commands that could not be decided be prepared again. */
  #forgetUndecided({ planned }: Plan): void {
    for (const { queued, fate } of planned) {
      if (fate.kind === "waits") queued.preparation = undefined;
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
    const queued = this.#commands().map(({ command }) => command.idempotencyKey);
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
  #announce(committed: Committed<EventBody>): void {
    const { report } = this.deps;
    try {
      this.deps.onCommitted?.(committed);
    } catch (error) {
      report("error", "on_committed_failed", defectOf(error));
    }
  }

  /**
   * Rejects commands at their deadlines, and ends the wait for slow preparations, every {@linkcode SWEEP_MS} while there
   * are commands. A timer that is set and cancelled for each command would take a tenth of the time of a lone one
   * (measured).
   */
  #sweep(): void {
    const { runtime } = this.deps;
    const commands = this.#commands();
    this.#isSweeping = commands.length > 0;
    if (!this.#isSweeping) return;
    this.#rejectOverdue(commands);
    this.#endSlowWait();
    runtime.setTimer(SWEEP_MS, () => this.#sweep());
  }

  #rejectOverdue(commands: readonly QueuedCommand[]): void {
    const { runtime, appendLimitMs } = this.deps;
    const now = runtime.monotonicNow();
    const overdue = commands.filter(({ deadline }) => deadline <= now);
    if (overdue.length === 0) return;
    for (const queued of overdue) {
      queued.rejectOverdue(appendLimitMs, this.#mayBeStored.has(queued.identity));
    }
    // While no head can be read, no step takes them.
    this.#waiting.removeSettled();
    // The next command of a group may have waited for one of them, whose preparation may never end.
    this.#start();
  }

  #endSlowWait(): void {
    if (this.#preparing === undefined) return;
    const { since, end } = this.#preparing;
    const isOver = this.deps.runtime.monotonicNow() - since >= PATIENCE_MS;
    const isNeeded = this.#inWork.some(({ isAwaited, isPreparing, isSettled }) =>
      isPreparing && !isSettled && (isAwaited || !isOver)
    );
    if (!isNeeded) end();
  }
}
