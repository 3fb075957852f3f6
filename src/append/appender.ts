/**
 * The only writer of an instance. It appends the events of commands to the log in atomic commits.
 * A commit also writes the projections' records and the new head, and checks only the head.
 * Commands that wait while a commit is in flight share the next commit.
 */

import { assertNever } from "../../events/assert_never.ts";
import {
  encodeEvent,
  type EventBody,
  type EventMetadata,
  type RecordedEvent,
} from "../../events/event.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import { encodeUtf8Pooled } from "../encoding/encode_utf8_pooled.ts";
import { ServiceError } from "../service_error.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { NotAttemptedError } from "../store/bounded_store.ts";
import { CommitSize } from "../store/commit_size.ts";
import { HEAD_KEY, logKey, type ProjectionRecord, recordMutation } from "../keyspace.ts";
import { COMMIT_MUTATIONS_LIMIT, type Mutation, type Store } from "../store/store.ts";
import { encodeHead, type Head, type HeadEntry, writtenGenerations } from "../log/head.ts";
import { HEAD_LIMIT_MS, type HeadReader } from "../log/head_reader.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "../telemetry/instrumentation.ts";
import { ContentionBackoff } from "./contention_backoff.ts";

/** Default of `appendLimitMs`: the longest wait of a command, from append() to its outcome. */
export const APPEND_LIMIT_MS = 3_500;

/** Maximum number of waiting commands; append() rejects one more at once with `overloaded`. */
export const QUEUE_LIMIT = 2_048;

const SWEEP_MS = 50;

/** A request to append events. */
export interface Command {
  /**
   * Reads what decide() needs besides the head. Rejects if the command must be refused. The appender
   * calls it before decide(), and again if another instance has moved the head since.
   */
  prepare(head: Head): Promise<void> | void;
  /** Whether prepare() finishes synchronously on this head, from memory. Without this method: false. */
  isPreparedAtOnce?(head: Head): boolean;
  /**
   * Returns the events to append after this head. It may run several times, so the ids and times of
   * the events must already be fixed.
   */
  decide(head: Head): readonly (EventBody & EventMetadata)[];
}

export interface AppenderDeps {
  /** How long a command may wait for its outcome, in milliseconds. */
  appendLimitMs?: number;
  store: Store;
  heads: HeadReader;
  project: (event: RecordedEvent) => ProjectionRecord[];
  runtime: Runtime;
  report: Logger;
  /** Called with the projection records of every commit that landed, before its commands are answered. */
  committed: (records: readonly ProjectionRecord[]) => void;
  instrumentation?: Instrumentation;
}

interface QueuedCommand {
  command: Command;
  deadline: number;
  /** The epoch that the command was prepared for; see `Appender.#headEpoch`. */
  preparedEpoch: number;
  /** The command's part of the next commit, planned while another commit is in flight. */
  plan?: PlannedAppend;
  /** Requeued once because it produced no events on a possibly stale head. */
  wasRequeued: boolean;
  /** Whether a batch with this command may have landed. */
  unclear: boolean;
  settled: boolean;
  /** The context of the caller; see `Instrumentation`. */
  context: unknown;
  resolve: (events: readonly RecordedEvent[]) => void;
  reject: (reason: unknown) => void;
}

/** The part that one command adds to a commit on `head`. */
interface PlannedAppend {
  head: Head;
  next: Head;
  events: RecordedEvent[];
  lines: Uint8Array[];
  records: ProjectionRecord[];
  mutations: Mutation[];
}

/** A commit. Retries send it unchanged while the store's head is still `base`. */
interface Batch {
  base: HeadEntry;
  next: Head;
  members: { pending: QueuedCommand; events: readonly RecordedEvent[] }[];
  lines: Uint8Array[];
  records: ProjectionRecord[];
  mutations: Mutation[];
}

export class Appender {
  #parts: AppenderDeps;
  #instrumentation: Instrumentation;
  #waiting: QueuedCommand[] = [];
  /** All unanswered commands and some answered ones, in order of their deadlines. */
  #arrivals: QueuedCommand[] = [];
  #working: Promise<void> | undefined;
  /** Pending while the answers of a batch are deferred to the next turn. */
  #answering: Promise<void> | undefined;
  #draining = false;
  #isUnderWay = false;
  /** The head after the commit in flight and all waiting commands; `undefined` if it was not planned. */
  #ahead: Head | undefined;
  /**
   * Number of the current epoch. A new epoch starts if another instance moves the head, or if a commit
   * contains an API key event. Until then, the preparation of a command stays valid.
   */
  #headEpoch = 0;
  /** The versionstamp of the newest head of the epoch. */
  #epochHead: string | null | undefined;
  /** Whether the next base must be read from the store even if a latest head is known. */
  #needsFreshBase = false;
  /** Monotonic time in milliseconds at which the last read of a base started. */
  #baseReadAt = -Infinity;

  #limitMs: number;
  #backoff: ContentionBackoff;

  constructor(parts: AppenderDeps) {
    this.#parts = parts;
    this.#instrumentation = parts.instrumentation ?? NO_INSTRUMENTATION;
    this.#limitMs = parts.appendLimitMs ?? APPEND_LIMIT_MS;
    this.#backoff = new ContentionBackoff(parts.runtime);
  }

  /**
   * Appends the events of the command exactly once. Rejects with the command's own refusal, or with a
   * `ServiceError`. `overloaded`, `shutting_down` and `store_unavailable` mean that nothing was stored.
   * `outcome_unknown` means that the events may or may not have been stored.
   */
  append(command: Command): Promise<readonly RecordedEvent[]> {
    return this.#instrumentation.trace("append", () => this.#enqueue(command));
  }

  #enqueue(command: Command): Promise<readonly RecordedEvent[]> {
    if (this.#draining) {
      return Promise.reject(new ServiceError("shutting_down", "The service is shutting down"));
    }
    if (this.#waiting.length >= QUEUE_LIMIT) {
      return Promise.reject(new ServiceError("overloaded", "Too many additions are waiting"));
    }
    return new Promise((resolve, reject) => {
      const pending: QueuedCommand = {
        command,
        deadline: this.#parts.runtime.monotonicNow() + this.#limitMs,
        preparedEpoch: -1,
        wasRequeued: false,
        unclear: false,
        settled: false,
        context: this.#instrumentation.capture(),
        resolve,
        reject,
      };
      this.#waiting.push(pending);
      this.#arrivals.push(pending);
      if (this.#isUnderWay) this.#makeAhead(pending);
      this.#working ??= this.#instrumentation.restore(undefined, () => this.#work());
    });
  }

  /** Number of commands that wait for a commit. */
  get queueLength(): number {
    return this.#waiting.length;
  }

  /** Makes append() reject new commands, and resolves when every accepted command has its outcome. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#working;
    await this.#answering;
  }

  async #work(): Promise<void> {
    const { runtime, report } = this.#parts;
    let cancelSweep = () => {};
    const sweep = () => {
      this.#answerOverdue();
      cancelSweep = runtime.setTimer(SWEEP_MS, sweep);
    };
    cancelSweep = runtime.setTimer(SWEEP_MS, sweep);
    const backoff = this.#backoff;
    let hasLanded = false;
    for (let failures = 0; this.#waiting.length > 0;) {
      // Yield once so that commands arriving together share a commit.
      if (!hasLanded || this.#waiting.length === 1) await runtime.nextTurn();
      hasLanded = false;
      try {
        const attempt = await this.#assemble(await this.#base());
        if (attempt === undefined) continue;
        const started = runtime.monotonicNow();
        const outcome = await this.#commitUntilKnown(attempt);
        if (outcome === "unclear") {
          await sleep(runtime, backoffMs(runtime, failures++));
          continue;
        }
        failures = 0;
        hasLanded = outcome === "landed";
        const pauseMs = outcome === "lost"
          ? backoff.onConflict()
          : backoff.onCommitted(runtime.monotonicNow() - started);
        if (pauseMs > 0 && this.#waiting.length > 0) await sleep(runtime, pauseMs);
      } catch (error) {
        report("warn", "append_failed", { reason: reasonOf(error) });
        await sleep(runtime, backoffMs(runtime, failures++));
      }
    }
    // In the same turn as the last check of the queue: a command queued in between would never be processed.
    this.#working = undefined;
    this.#arrivals = [];
    cancelSweep();
  }

  async #base(): Promise<HeadEntry> {
    const { heads, runtime } = this.#parts;
    // A read costs less than a commit that conflicts.
    const isOld = heads.latest === undefined || this.#needsFreshBase || this.#backoff.areOthersNear;
    if (isOld) {
      this.#baseReadAt = runtime.monotonicNow();
      await heads.read();
    }
    this.#needsFreshBase = false;
    if (this.#backoff.isStarving) await this.#claim(heads.latest!);
    return heads.latest!;
  }

  /**
   * Writes the head unchanged, so that every commit in flight from another instance conflicts. The
   * write is small and therefore fast. The next commit of this instance then has a head start.
   */
  async #claim({ head, versionstamp }: HeadEntry): Promise<void> {
    if (versionstamp === null) return;
    const claimed = await this.#parts.store.commit({
      checks: [{ key: HEAD_KEY, versionstamp }],
      mutations: [{ type: "set", key: HEAD_KEY, value: encodeHead(head) }],
    });
    if (claimed !== null) this.#parts.heads.advance({ head, versionstamp: claimed });
  }

  /** Builds a batch on the base from as many waiting commands as fit; `undefined` if none has events. */
  async #assemble(base: HeadEntry): Promise<Batch | undefined> {
    if (base.versionstamp !== this.#epochHead) {
      this.#headEpoch++;
      this.#epochHead = base.versionstamp;
    }
    const candidates = this.#waiting.splice(0, COMMIT_MUTATIONS_LIMIT)
      .filter((pending) => !pending.settled);
    await this.#prepare(candidates, base.head);

    const attempt: Batch = {
      base,
      next: base.head,
      members: [],
      lines: [],
      records: [],
      mutations: [],
    };
    const size = new CommitSize();
    for (const [index, pending] of candidates.entries()) {
      if (pending.settled) continue;
      if (pending.preparedEpoch !== this.#headEpoch) {
        this.#waiting.push(pending);
        continue;
      }
      let plan: PlannedAppend;
      try {
        plan = this.#planFor(pending, attempt.next);
      } catch (reason) {
        this.#refuse(pending, reason);
        if (!pending.settled) this.#waiting.push(pending);
        continue;
      }
      for (const mutation of plan.mutations) size.add(mutation);
      // Commands after an API key event must be prepared again, so they go into the next commit.
      const keysMoved = attempt.next.keyPosition > base.head.keyPosition;
      if (attempt.members.length > 0 && (size.exceedsLimits || keysMoved)) {
        this.#waiting.unshift(...candidates.slice(index));
        break;
      }
      if (plan.events.length === 0) {
        if (this.#tryAgain(pending)) this.#waiting.push(pending);
        else settle(pending, () => pending.resolve([]));
        continue;
      }
      attempt.next = plan.next;
      attempt.members.push({ pending, events: plan.events });
      attempt.lines.push(...plan.lines);
      attempt.records.push(...plan.records);
      attempt.mutations.push(...plan.mutations);
    }
    if (attempt.members.length === 0) return undefined;
    attempt.mutations.push({ type: "set", key: HEAD_KEY, value: encodeHead(attempt.next) });
    return attempt;
  }

  /**
   * Plans the command's part of the next commit while another commit is in flight, so that the next one
   * can start as soon as the first has landed. If the head turns out to be another one, `#planFor`
   * discards this plan and makes a new one.
   */
  #makeAhead(pending: QueuedCommand): void {
    const head = this.#ahead;
    this.#ahead = undefined;
    const { command } = pending;
    if (head === undefined || !command.isPreparedAtOnce?.(head)) return;
    try {
      // #prepare() prepares the command again, because an API key may expire before then.
      command.prepare(head);
      pending.plan = this.#planFor(pending, head);
      this.#ahead = pending.plan.next;
    } catch {
      // #assemble() runs the command again and handles its refusal.
    }
  }

  /** Plans the part of a prepared command in a commit on `head`. Throws the refusal of the command. */
  #planFor({ command, plan }: QueuedCommand, head: Head): PlannedAppend {
    if (plan?.head === head) return plan;
    const { project, runtime } = this.#parts;
    const generations = writtenGenerations(head);
    const events: RecordedEvent[] = [];
    const lines: Uint8Array[] = [];
    const records: ProjectionRecord[] = [];
    const mutations: Mutation[] = [];
    let next = head;
    for (const fact of command.decide(head)) {
      const event = { ...fact, position: next.position + 1, previousHash: next.lastHash };
      const line = encodeUtf8Pooled(encodeEvent(event));
      next = headAfter(next, event, line);
      events.push(event);
      lines.push(line);
      mutations.push({ type: "set", key: logKey(event.position), value: line });
      for (const record of project(event)) {
        records.push(record);
        for (const generation of generations) {
          mutations.push(recordMutation(generation, record, runtime.now()));
        }
      }
    }
    return { head, next, events, lines, records, mutations };
  }

  async #prepare(candidates: QueuedCommand[], head: Head): Promise<void> {
    const preparations: Promise<void>[] = [];
    for (const pending of candidates) {
      if (pending.preparedEpoch === this.#headEpoch) continue;
      pending.preparedEpoch = this.#headEpoch;
      try {
        const { command, context } = pending;
        const preparing = this.#instrumentation.restore(context, () => command.prepare(head));
        if (preparing === undefined) continue;
        preparations.push(
          preparing.catch((reason) => this.#refuse(pending, reason)),
        );
      } catch (reason) {
        this.#refuse(pending, reason);
      }
    }
    if (preparations.length > 0) await Promise.all(preparations);
  }

  #refuse(pending: QueuedCommand, reason: unknown): void {
    if (!this.#tryAgain(pending)) settle(pending, () => pending.reject(reason));
  }

  /**
   * Decides whether a command without events, or with a refusal, is tried again. No commit proves such
   * an outcome, so it is valid only on a fresh head. On a stale head, the records that the command read
   * may have been removed, for example after a replay. So the first time, this method marks the command
   * for a new preparation on a freshly read head, and returns true.
   */
  #tryAgain(pending: QueuedCommand): boolean {
    const isBaseInTime = this.#parts.runtime.monotonicNow() - this.#baseReadAt <= HEAD_LIMIT_MS;
    if (pending.wasRequeued && isBaseInTime) return false;
    pending.wasRequeued = true;
    pending.preparedEpoch = -1;
    this.#needsFreshBase = true;
    return true;
  }

  /**
   * Commits a batch and finds out whether it landed. `ok: false`, a lock, a time-out and a broken
   * connection do not show that, so the log is read to find out. If the batch lost or was not attempted,
   * its commands are queued again. If the outcome stays unclear, they are answered at their deadlines.
   */
  async #commitUntilKnown(attempt: Batch): Promise<"landed" | "lost" | "unclear"> {
    const { runtime, heads, report } = this.#parts;
    for (const { pending } of attempt.members) pending.unclear = true;
    for (let tries = 0;; tries++) {
      try {
        const { base } = attempt;
        const versionstamp = await this.#commit(attempt);
        if (versionstamp !== null) {
          heads.advance({ head: attempt.next, versionstamp });
          const keysMoved = attempt.next.keyPosition !== base.head.keyPosition;
          if (!keysMoved) this.#epochHead = versionstamp;
          this.#acknowledge(attempt);
          return "landed";
        }
      } catch (error) {
        if (!(error instanceof NotAttemptedError)) {
          report("warn", "commit_failed", { reason: reasonOf(error) });
          this.#instrumentation.onUnclearOutcome();
        } else if (tries === 0) {
          this.#waitAgain(attempt);
          return "unclear";
        }
      }
      try {
        switch (await this.#outcomeOf(attempt)) {
          case "landed":
            this.#acknowledge(attempt);
            return "landed";
          case "lost":
            this.#instrumentation.onConflict();
            this.#waitAgain(attempt);
            return "lost";
          case "open":
        }
      } catch (error) {
        if (!(error instanceof NotAttemptedError)) {
          report("warn", "read_back_failed", { reason: reasonOf(error) });
        }
      }
      if (attempt.members.every(({ pending }) => pending.settled)) return "unclear";
      await sleep(runtime, backoffMs(runtime, tries));
    }
  }

  async #commit({ base, next, members, lines, mutations }: Batch): Promise<string | null> {
    const { store } = this.#parts;
    const checks = [{ key: HEAD_KEY, versionstamp: base.versionstamp }];
    const last = this.#waiting.at(-1);
    this.#ahead = last === undefined ? next : last.plan?.next;
    this.#isUnderWay = true;
    try {
      const callers = members.map(({ pending }) => pending.context);
      return await this.#instrumentation.traceCommit(
        callers,
        lines.length,
        () => store.commit({ checks, mutations }),
      );
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Requeues the commands of a batch that did not land and no longer can. */
  #waitAgain({ members }: Batch): void {
    for (const { pending } of members) pending.unclear = false;
    this.#waiting.unshift(...members.map(({ pending }) => pending));
  }

  /** Whether the batch landed, can no longer land ("lost"), or still can ("open"). */
  async #outcomeOf({ base, lines }: Batch): Promise<"landed" | "lost" | "open"> {
    const { heads, store } = this.#parts;
    const now = await heads.read();
    if (now.versionstamp === base.versionstamp) return "open";
    if (now.head.position <= base.head.position) return "lost";
    // Only one commit can have followed the base. If it is this one, its first line is stored byte for byte.
    const entry = await store.get(logKey(base.head.position + 1));
    return bytesEqual(entry?.value, lines[0]) ? "landed" : "lost";
  }

  /**
   * Answers the commands of a batch. If other commands wait, their commit starts first, in this turn, so
   * that the store works on it meanwhile.
   */
  #acknowledge(attempt: Batch): void {
    if (this.#waiting.length === 0) this.#answer(attempt);
    else this.#answering = this.#parts.runtime.nextTurn().then(() => this.#answer(attempt));
  }

  #answer({ members, lines, records }: Batch): void {
    this.#parts.committed(records);
    this.#instrumentation.onCommitted(lines.length);
    for (const { pending, events } of members) settle(pending, () => pending.resolve(events));
    this.#forgetAnswered();
  }

  #answerOverdue(): void {
    const now = this.#parts.runtime.monotonicNow();
    for (const pending of this.#arrivals) {
      if (pending.deadline > now) break;
      settle(pending, () => pending.reject(overdue(pending, this.#limitMs)));
    }
    this.#forgetAnswered();
  }

  /** Drops answered commands at the front, before the garbage collector moves them to its old generation. */
  #forgetAnswered(): void {
    const open = this.#arrivals.findIndex(({ settled }) => !settled);
    this.#arrivals.splice(0, open === -1 ? this.#arrivals.length : open);
  }
}

function headAfter(head: Head, event: RecordedEvent, line: Uint8Array): Head {
  const next = { ...head, position: event.position, lastHash: sha256Hex(line) };
  switch (event.type) {
    case "PetCreated":
      next.lastPetId = event.data.id;
      return next;
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      next.keyPosition = event.position;
      return next;
    default:
      return assertNever(event);
  }
}

function settle(pending: QueuedCommand, answer: () => void): void {
  if (pending.settled) return;
  pending.settled = true;
  answer();
}

function overdue({ unclear }: QueuedCommand, limitMs: number): ServiceError {
  return unclear
    ? new ServiceError(
      "outcome_unknown",
      `The store gave no clear answer within ${limitMs} ms, so it may or may not have been stored`,
    )
    : new ServiceError(
      "store_unavailable",
      `The store could not take it within ${limitMs} ms, so nothing was stored`,
    );
}
