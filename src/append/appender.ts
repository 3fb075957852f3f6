/** The only writer of an instance. `src/README.md` explains how it appends the events of commands. */

import { assertNever } from "../../events/assert_never.ts";
import type { RecordedEvent } from "../../events/event.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import { HEAD_KEY } from "../keyspace.ts";
import { encodeHead, type HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { defectOf, type Logger, reasonOf } from "../runtime/logger.ts";
import { backoffMs, outsideRequests, sleep } from "../runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import {
  isWriteFault,
  mayHaveLanded,
  StoreAwayError,
  type StoreError,
  StoreFailingError,
  StoreRefusedError,
  type WriteFaultError,
} from "../store/store_errors.ts";
import { type CommitOutcome, commitUntilKnown } from "../store/commit_until_known.ts";
import { type Mutation, WRITE_PROBE } from "../store/store.ts";
import type { Instrumentation } from "../telemetry/instrumentation.ts";
import { type Base, type Batch, type BatchDeps, planBatch } from "./batch.ts";
import { type Command, QueuedCommand } from "./command.ts";
import { ContentionBackoff } from "./contention_backoff.ts";

/** Default of `appendLimitMs`: the longest wait of a command, from append() to its outcome, in milliseconds. */
export const APPEND_LIMIT_MS = 3_500;

/** Maximum number of waiting commands; append() rejects one more at once with `overloaded`. */
export const QUEUE_LIMIT = 2_048;

/** Commits that are not applied are reported after this time, in milliseconds: a lock is usually shorter. */
const SHORT_LOCK_MS = 500;
/** Time between two such reports, in milliseconds. */
const NOT_APPLIED_REPORT_MS = 10_000;

/** Time between two probes of a store that cannot be written, and number of probes between two reports. */
const PROBE_INTERVAL_MS = 1_000;
const PROBES_PER_REPORT = 10;

/** How often the deadlines of the commands are checked. */
const SWEEP_MS = 50;

/** The commit was not sent, because the last one met a failing disk. */
class WithheldError extends StoreRefusedError {
  constructor() {
    super("The disk of the store fails, so nothing was stored", { isLogged: true });
  }
}

type HeadChange = Pick<Batch, "base" | "next" | "mutations">;

export interface AppenderDeps extends BatchDeps {
  appendLimitMs: number;
  heads: HeadReader;
  instrumentation: Instrumentation;
  report: Logger;
  /** Called after every commit that landed, before the next one is planned. */
  onCommitted?: () => void;
}

export class Appender {
  /** Its surroundings. Tests make them throw. */
  readonly deps: AppenderDeps;
  #waiting: QueuedCommand[] = [];
  /** Those of which a batch is planned or committed. Some of them may wait again. */
  #taken: readonly QueuedCommand[] = [];
  #backoff: ContentionBackoff;
  /** The error of the last commit if the store's file could not be written. */
  #writeFault: WriteFaultError | undefined;
  #watchingFault: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  /** Pending while the settling of a batch is deferred to the next turn. */
  #settling: Promise<void> | undefined;
  /** The last batch, while it is not known whether it landed. */
  #unclear: Batch | undefined;
  /** Whether the last commit landed with one command, and none waited after it. */
  #wasAlone = false;
  #isDraining = false;
  #hasAnnounceFailed = false;
  /** Makes append() reject new commands with this error. */
  suspension: StoreError | undefined;
  /** Number of commits that were not applied since one landed. */
  #notApplied = 0;
  /** Monotonic time in milliseconds from which they may be reported again. */
  #reportNotAppliedFrom = -Infinity;

  constructor(deps: AppenderDeps) {
    this.deps = deps;
    this.#backoff = new ContentionBackoff(deps.runtime);
  }

  /**
   * Appends the events of the command exactly once. Rejects with the command's own refusal, with `overloaded`,
   * `shutting_down`, `storage_full` or `store_unavailable` (nothing was stored), or `outcome_unknown` (perhaps it was).
   */
  async append(command: Command): Promise<readonly RecordedEvent[]> {
    const { runtime, appendLimitMs } = this.deps;
    if (this.#isDraining) throw new ServiceError("shutting_down", "The service is shutting down");
    if (this.suspension !== undefined) throw this.suspension;
    if (this.#waiting.length >= QUEUE_LIMIT) {
      throw new ServiceError("overloaded", "Too many requests wait for a commit");
    }
    const queued = new QueuedCommand(command, runtime.monotonicNow() + appendLimitMs);
    this.#waiting.push(queued);
    this.#running ??= outsideRequests(() => this.#run());
    return await queued.outcome;
  }

  /** Why commits fail; `undefined` if no lasting reason is known. */
  get fault(): StoreError | undefined {
    return this.suspension ?? this.#writeFault;
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
    let hasLanded = false;
    for (let failures = 0; this.#waiting.length > 0;) {
      // Yield once so that commands arriving together share a commit; after a command that came alone, none are expected.
      if (hasLanded ? this.#waiting.length === 1 : !this.#wasAlone) await runtime.nextTurn();
      this.#wasAlone = false;
      const result = await this.#commitNext();
      hasLanded = result === "landed";
      if (hasLanded || result === "lost") failures = 0;
      else if (result === "failed") await sleep(runtime, backoffMs(runtime, failures++));
    }
    // In the same turn as the last check of the queue: a command queued in between would never be processed.
    this.#running = undefined;
    stopSweep();
  }

  /** Plans a batch, commits and settles it, and pauses so that other instances can commit. Never rejects. */
  async #commitNext(): Promise<"landed" | "lost" | "nothing" | "failed"> {
    const { report, runtime } = this.deps;
    try {
      if (this.#notApplied === 0) {
        const end = runtime.monotonicNow() + SHORT_LOCK_MS;
        this.#reportNotAppliedFrom = Math.max(this.#reportNotAppliedFrom, end);
      }
      const base = await this.#base();
      const candidates = this.#waiting.splice(0).filter(({ isSettled }) => !isSettled);
      this.#taken = candidates;
      const batch = await planBatch({ ...this.deps, base, candidates, waiting: this.#waiting });
      if (batch === undefined) return "nothing";
      const startedAt = runtime.monotonicNow();
      const outcome = await this.#commitUntilKnown(batch);
      const tookMs = runtime.monotonicNow() - startedAt;
      this.#settle(batch, outcome);
      const { state } = outcome;
      if (state !== "landed" && state !== "lost") return "failed";
      const hasLanded = state === "landed";
      if (hasLanded) this.#announce();
      this.#wasAlone = hasLanded && batch.members.length === 1 && this.#waiting.length === 0;
      const pauseMs = hasLanded ? this.#backoff.onCommitted(tookMs) : this.#backoff.onConflict();
      if (pauseMs > 0 && this.#waiting.length > 0) await sleep(runtime, pauseMs);
      return state;
    } catch (error) {
      // The defect may have kept them from waiting again.
      for (const queued of this.#taken) queued.refuse(error);
      if (serviceErrorCode(error) !== undefined) this.#reportFailure("append", error);
      else report("error", "append_failed", defectOf(error));
      return "failed";
    } finally {
      this.#taken = [];
    }
  }

  /** The head to plan on, read for repeated commands, and if others append: a read costs less than a conflict. */
  async #base(): Promise<Base> {
    const { heads, runtime } = this.deps;
    const readAt = runtime.monotonicNow();
    const mustRead = heads.latest === undefined || this.#backoff.areOthersNear ||
      this.#waiting.some(({ wasRepeated }) => wasRepeated);
    if (mustRead) await heads.read();
    if (this.#backoff.isStarving) await this.#touchHead(heads.latest!);
    return { ...heads.latest!, readAt };
  }

  /** Writes the head unchanged, which is fast: commits of others in flight conflict, so the next one here is ahead. */
  async #touchHead(base: HeadEntry): Promise<void> {
    if (base.versionstamp === null) return;
    const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value: encodeHead(base.head) }];
    await this.#storeCommit({ base, next: base.head, mutations });
  }

  /** Commits a batch. Retries send it unchanged, until its commands have reached their deadlines. */
  #commitUntilKnown(batch: Batch): Promise<CommitOutcome> {
    const { runtime, heads, store } = this.deps;
    const { base, members, firstLogRecord } = batch;
    for (const { queued } of members) queued.mayHaveLanded = true;
    this.#unclear = batch;
    return commitUntilKnown(runtime, {
      guard: base.versionstamp,
      commit: () =>
        this.#isWithheld ? Promise.reject(new WithheldError()) : this.#storeCommit(batch),
      readGuard: () => heads.read(),
      async hasLanded({ head }) {
        if (head.position <= base.head.position) return false;
        // Only one commit can have followed the base directly. If it is this one, its lines are stored.
        const entry = await store.get(firstLogRecord.key);
        return bytesEqual(entry?.value, firstLogRecord.value);
      },
      isOver: (isUnclear) => !isUnclear || members.every(({ queued }) => queued.isSettled),
      onFailure: (step, error) => this.#reportFailure(step, error),
    });
  }

  /** Reports a failure, unless the store reports it as an outage, or it is a fault that is watched. */
  #reportFailure(step: "append" | "commit" | "read_back", error: unknown): void {
    if (isWriteFault(error) || error instanceof WithheldError) return;
    const { runtime, report } = this.deps;
    const reason = reasonOf(error);
    const isRefused = error instanceof StoreRefusedError;
    if (isRefused || mayHaveLanded(error)) {
      report("warn", `${step}_failed`, { reason });
      if (step === "commit" && !isRefused) this.deps.instrumentation.count("commit.unclear");
    } else if (step !== "read_back" && !(error instanceof StoreAwayError)) {
      const now = runtime.monotonicNow();
      this.#notApplied++;
      if (now < this.#reportNotAppliedFrom) return;
      this.#reportNotAppliedFrom = now + NOT_APPLIED_REPORT_MS;
      report("warn", "commits_not_applied", { reason, count: this.#notApplied });
    }
  }

  /** Commits mutations that write the head `next`, if the store still has the head `base`. */
  async #storeCommit({ base, next, mutations }: HeadChange) {
    const { heads, store } = this.deps;
    try {
      const checks = [{ key: HEAD_KEY, versionstamp: base.versionstamp }];
      const versionstamp = await store.commit({ checks, mutations });
      if (versionstamp === null) return null;
      this.#notApplied = 0;
      this.#writeFault = undefined;
      heads.advance({ head: next, versionstamp });
      return versionstamp;
    } catch (error) {
      if (isWriteFault(error)) {
        this.#writeFault = error;
        this.#watchingFault ??= this.#watchFault();
      }
      throw error;
    }
  }

  /** Whether only probes are sent: a commit that fails so is unclear, and its commands wait until their deadlines. */
  get #isWithheld(): boolean {
    return this.#writeFault instanceof StoreFailingError;
  }

  /** Reports why nothing can be written, and probes until a write lands: an instance that is not ready may get no requests. */
  async #watchFault(): Promise<void> {
    const { report, runtime } = this.deps;
    while (this.#writeFault !== undefined) {
      const { event, reason, remedy } = this.#writeFault;
      const inSentence = `${remedy[0].toUpperCase()}${remedy.slice(1)}`;
      report("error", event, {
        reason,
        remedy: `${inSentence}; the service then continues by itself`,
      });
      // A store that cannot be written again within this time is reported once.
      for (let probe = 0; probe < PROBES_PER_REPORT; probe++) {
        await sleep(runtime, PROBE_INTERVAL_MS);
        const areCommitsProbes = this.#running !== undefined && !this.#isWithheld;
        if (this.#writeFault === undefined || areCommitsProbes) continue;
        // A probe that fails for another reason says nothing about the disk.
        await this.#probe().catch(() => {});
      }
    }
    report("info", "storage_available");
    this.#watchingFault = undefined;
  }

  /** Writes the head unchanged. A store without a head has no record that could be written so. */
  async #probe(): Promise<void> {
    const { heads, store } = this.deps;
    const base = await heads.read();
    if (base.versionstamp !== null) return await this.#touchHead(base);
    await store.commit(WRITE_PROBE);
    this.#writeFault = undefined;
  }

  #settle(batch: Batch, outcome: CommitOutcome): void {
    const { heads, instrumentation } = this.deps;
    if (outcome.state !== "unclear") this.#unclear = undefined;
    switch (outcome.state) {
      case "landed":
        if (heads.latest!.head.position < batch.next.position) {
          throw new Error("A commit landed that the head does not show");
        }
        this.#acknowledge(batch);
        break;
      case "lost":
        instrumentation.count("commit.conflicts");
        // falls through
      // "check_failed" does not occur, because the head is the only check.
      case "check_failed":
      case "not_applied":
        this.#requeue(batch);
        break;
      case "refused":
        for (const { queued } of batch.members) queued.reject(outcome.cause);
        break;
      case "unclear":
        // Its commands were rejected at their deadlines.
        break;
      default:
        assertNever(outcome);
    }
    this.#taken = [];
  }

  /** Announces a commit. What fails here is a defect, but no reason to fail a request. */
  #announce(): void {
    const { onCommitted, report } = this.deps;
    try {
      onCommitted?.();
    } catch (error) {
      if (!this.#hasAnnounceFailed) report("error", "on_committed_failed", defectOf(error));
      this.#hasAnnounceFailed = true;
    }
  }

  /** Requeues the commands of a batch that did not land and no longer can. */
  #requeue({ members }: Batch): void {
    for (const { queued } of members) queued.mayHaveLanded = false;
    this.#waiting.unshift(...members.map(({ queued }) => queued));
  }

  /** Resolves the commands of a batch. If others wait, their commit starts first, so that the store works meanwhile. */
  #acknowledge({ members, lines: committed }: Batch): void {
    const { instrumentation, runtime } = this.deps;
    const resolve = () => {
      for (const { event: { type } } of committed) {
        instrumentation.count("events.appended", { type });
      }
      for (const { queued, lines } of members) queued.resolve(lines.map(({ event }) => event));
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
      const unclear = new Set(this.#unclear?.members.map(({ queued }) => keyOf(queued)));
      unclear.delete(undefined);
      for (const queued of this.#waiting) {
        // An event of another command with the same Idempotency-Key is the outcome of this one, too.
        if (unclear.has(keyOf(queued))) queued.mayHaveLanded = true;
      }
      for (const queued of [...this.#taken, ...this.#waiting]) {
        if (queued.deadline <= now) queued.rejectOverdue(appendLimitMs);
      }
      cancel = runtime.setTimer(SWEEP_MS, sweep);
    };
    sweep();
    return () => cancel();
  }
}
