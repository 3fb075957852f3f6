/**
 * The one writer of an instance: appends what commands decide to the log, together with the
 * projections' records and the new head, in atomic commits that check the head and nothing else.
 * Commands that wait while a commit is in flight go into the next one together.
 */

import { assertNever } from "../../events/assert_never.ts";
import {
  encodeEvent,
  type EventBody,
  type EventMetadata,
  type RecordedEvent,
} from "../../events/event.ts";
import { bytesEqual } from "../bytes_equal.ts";
import { encodeUtf8Pooled } from "../encode_utf8_pooled.ts";
import { ServiceError } from "../service_error.ts";
import { backoffMs, type Runtime, sleep } from "../runtime.ts";
import { type Logger, reasonOf } from "../logger.ts";
import { sha256Hex } from "../sha256.ts";
import { NotAttemptedError } from "../store/bounded_store.ts";
import { CommitSize } from "../store/commit_size.ts";
import { HEAD_KEY, logKey, type ProjectionRecord, recordMutation } from "../store/keyspace.ts";
import { COMMIT_MUTATIONS_LIMIT, type Mutation, type Store } from "../store/store.ts";
import { encodeHead, type Head, type HeadEntry, writtenGenerations } from "./head.ts";
import { HEAD_LIMIT_MS, type HeadReader } from "./head_reader.ts";
import { ContentionBackoff } from "./contention_backoff.ts";

/** How long a command may wait for its outcome, from append() to the answer, where nothing else is said. */
export const APPEND_LIMIT_MS = 3_500;

/** How many commands may wait; one more is refused at once. */
export const QUEUE_LIMIT = 2_048;

const SWEEP_MS = 50;

/** What somebody wants to happen. */
export interface Command {
  /**
   * Reads what the decision rests on beside the head; rejects where that forbids it. Called before
   * decide(), and again whenever others have moved the head since.
   */
  prepare(head: Head): Promise<void> | void;
  /** Whether prepare() is done at once on this head, from memory; where that is not said, it is not. */
  isPreparedAtOnce?(head: Head): boolean;
  /** The facts to be appended on this head. Ids and times are given once, not here. */
  decide(head: Head): readonly (EventBody & EventMetadata)[];
}

/**
 * Watches the appender at work, for telemetry. A context is whatever tells in whose name something is
 * done; the appender does the work of many commands at once, and says for which.
 */
export interface AppendObserver<Context = unknown> {
  /** That of the caller. */
  context(): Context;
  /** Runs something in a context, or in nobody's. */
  within<T>(context: Context | undefined, run: () => T): T;
  /** Runs a commit of so many events, for the commands that came in these contexts. */
  commit<T>(contexts: Context[], events: number, run: () => Promise<T>): Promise<T>;
  landed(events: number): void;
  /** Another instance's commit came first. */
  lost(): void;
  /** A commit gave no clear answer. */
  unclear(): void;
}

export interface AppenderDeps {
  /** How long a command may wait for its outcome, in milliseconds. */
  appendLimitMs?: number;
  store: Store;
  heads: HeadReader;
  project: (event: RecordedEvent) => ProjectionRecord[];
  runtime: Runtime;
  report: Logger;
  /** Told what every commit of this appender put into the projections, before its commands are answered. */
  committed: (records: readonly ProjectionRecord[]) => void;
  watch?: AppendObserver;
}

interface QueuedCommand {
  command: Command;
  deadline: number;
  /** The run of heads that the command was prepared for; see `Appender.#headEpoch`. */
  preparedEpoch: number;
  /** What it adds to the next commit, planned while another commit is in flight. */
  plan?: PlannedAppend;
  /** Whether it was put back once, since it came to nothing on a head that may have been an old one. */
  putBack: boolean;
  /** Whether an attempt that holds it may have landed. */
  unclear: boolean;
  settled: boolean;
  /** The context in which it came; see `AppendObserver`. */
  context: unknown;
  resolve: (events: readonly RecordedEvent[]) => void;
  reject: (reason: unknown) => void;
}

/** What one command adds to a commit that appends after a head. */
interface PlannedAppend {
  head: Head;
  next: Head;
  events: RecordedEvent[];
  lines: Uint8Array[];
  records: ProjectionRecord[];
  mutations: Mutation[];
}

/** A commit, kept unchanged for as long as the head is the one that it was made for. */
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
  #waiting: QueuedCommand[] = [];
  /** All that have no answer yet, and some that have, in order of their deadlines. */
  #arrivals: QueuedCommand[] = [];
  #working: Promise<void> | undefined;
  /** The answers that are due in the next turn. */
  #answering: Promise<void> | undefined;
  #draining = false;
  /** Whether a commit is. */
  #isUnderWay = false;
  /** The head after the commit under way and all that waits, where that was made ahead. */
  #ahead: Head | undefined;
  /**
   * Counts the runs of heads. A run is a row of heads that only this appender moved, and by no event
   * of a key: what a command was prepared for holds to the end of the run.
   */
  #headEpoch = 0;
  /** The versionstamp of the newest head of the run. */
  #epochHead: string | null | undefined;
  /** Whether the next base must be read, however well the latest head is known. */
  #needsFreshBase = false;
  /** When that was last done. */
  #baseReadAt = -Infinity;

  #limitMs: number;
  #backoff: ContentionBackoff;

  constructor(parts: AppenderDeps) {
    this.#parts = parts;
    this.#limitMs = parts.appendLimitMs ?? APPEND_LIMIT_MS;
    this.#backoff = new ContentionBackoff(parts.runtime);
  }

  /**
   * Appends what the command decides, exactly once. Rejects with the command's own refusal, or with a
   * `ServiceError`: `overloaded`, `shutting_down` and `store_unavailable` say that nothing was stored,
   * `outcome_unknown` that nobody can tell yet.
   */
  append(command: Command): Promise<readonly RecordedEvent[]> {
    if (this.#draining) {
      return Promise.reject(new ServiceError("shutting_down", "The service is shutting down"));
    }
    if (this.#waiting.length >= QUEUE_LIMIT) {
      return Promise.reject(new ServiceError("overloaded", "Too many additions are waiting"));
    }
    const { watch } = this.#parts;
    return new Promise((resolve, reject) => {
      const pending: QueuedCommand = {
        command,
        deadline: this.#parts.runtime.monotonicNow() + this.#limitMs,
        preparedEpoch: -1,
        putBack: false,
        unclear: false,
        settled: false,
        context: watch?.context(),
        resolve,
        reject,
      };
      this.#waiting.push(pending);
      this.#arrivals.push(pending);
      if (this.#isUnderWay) this.#makeAhead(pending);
      this.#working ??= watch === undefined
        ? this.#work()
        : watch.within(undefined, () => this.#work());
    });
  }

  /** How many commands wait for a commit to be made. */
  get queueLength(): number {
    return this.#waiting.length;
  }

  /** Resolves when every command taken so far has its answer; from now on none is taken. */
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
    // In the same turn as the last look at the queue, or a command that comes now would wait for ever.
    this.#working = undefined;
    this.#arrivals = [];
    cancelSweep();
  }

  async #base(): Promise<HeadEntry> {
    const { heads, runtime } = this.#parts;
    // A read costs little beside a commit that comes too late.
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
   * Writes the head as it is, which makes every commit that others have under way come too late. It is
   * small, so it is faster than they are, and the next commit has a start over all of theirs.
   */
  async #claim({ head, versionstamp }: HeadEntry): Promise<void> {
    if (versionstamp === null) return;
    const claimed = await this.#parts.store.commit({
      checks: [{ key: HEAD_KEY, versionstamp }],
      mutations: [{ type: "set", key: HEAD_KEY, value: encodeHead(head) }],
    });
    if (claimed !== null) this.#parts.heads.advance({ head, versionstamp: claimed });
  }

  /** Makes a commit on the base for as many waiting commands as fit; `undefined` where none wants one. */
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
      // What follows an event of a key is to be prepared again, which the next commit will do.
      const keysMoved = attempt.next.keyPosition > base.head.keyPosition;
      if (attempt.members.length > 0 && (size.exceedsLimits || keysMoved)) {
        this.#waiting.unshift(...candidates.slice(index));
        break;
      }
      if (plan.events.length === 0) {
        if (this.#putsBack(pending)) this.#waiting.push(pending);
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
   * Plans what a command adds to the next commit while another is under way, so that the next can be sent
   * off as soon as that has landed. Where it does not land, or anything comes in between, the plan is
   * for another head, and made anew when its turn comes.
   */
  #makeAhead(pending: QueuedCommand): void {
    const head = this.#ahead;
    this.#ahead = undefined;
    const { command } = pending;
    if (head === undefined || !command.isPreparedAtOnce?.(head)) return;
    try {
      // It is prepared again in its turn, for a key may expire by then.
      command.prepare(head);
      pending.plan = this.#planFor(pending, head);
      this.#ahead = pending.plan.next;
    } catch {
      // Where it is to be refused, that is done in its turn, too.
    }
  }

  /** What a prepared command adds to a commit after that head. Throws where it refuses. */
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
    const { watch } = this.#parts;
    const preparations: Promise<void>[] = [];
    for (const pending of candidates) {
      if (pending.preparedEpoch === this.#headEpoch) continue;
      pending.preparedEpoch = this.#headEpoch;
      try {
        const { command, context } = pending;
        const preparing = watch === undefined
          ? command.prepare(head)
          : watch.within(context, () => command.prepare(head));
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
    if (!this.#putsBack(pending)) settle(pending, () => pending.reject(reason));
  }

  /**
   * What comes to nothing is not proved by a commit, and holds only on a head that was read since the
   * command came: on an old one, what it rests on may not be there any more, as after a replay. So the
   * first time the command is to be prepared again, on a head read anew.
   */
  #putsBack(pending: QueuedCommand): boolean {
    const isBaseInTime = this.#parts.runtime.monotonicNow() - this.#baseReadAt <= HEAD_LIMIT_MS;
    if (pending.putBack && isBaseInTime) return false;
    pending.putBack = true;
    pending.preparedEpoch = -1;
    this.#needsFreshBase = true;
    return true;
  }

  /**
   * Brings an attempt to its outcome. `ok: false`, a lock, a time-out and a broken connection all leave
   * the same question, whether it landed, and only the log itself can answer it. Where it was lost, or
   * not even made, its commands wait again; where that stays unclear, they were answered at their deadline.
   */
  async #commitUntilKnown(attempt: Batch): Promise<"landed" | "lost" | "unclear"> {
    const { runtime, heads, report, watch } = this.#parts;
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
          watch?.unclear();
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
            watch?.lost();
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
    const { store, watch } = this.#parts;
    const checks = [{ key: HEAD_KEY, versionstamp: base.versionstamp }];
    const commit = () => store.commit({ checks, mutations });
    const last = this.#waiting.at(-1);
    this.#ahead = last === undefined ? next : last.plan?.next;
    this.#isUnderWay = true;
    try {
      if (watch === undefined) return await commit();
      const contexts = members.map(({ pending }) => pending.context);
      return await watch.commit(contexts, lines.length, commit);
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Puts back the commands of an attempt that did not land and never will. */
  #waitAgain({ members }: Batch): void {
    for (const { pending } of members) pending.unclear = false;
    this.#waiting.unshift(...members.map(({ pending }) => pending));
  }

  /** Whether the attempt landed, can land no more, or still can. */
  async #outcomeOf({ base, lines }: Batch): Promise<"landed" | "lost" | "open"> {
    const { heads, store } = this.#parts;
    const now = await heads.read();
    if (now.versionstamp === base.versionstamp) return "open";
    if (now.head.position <= base.head.position) return "lost";
    // Only one commit can have followed the base. If it is this one, its first line is there to the byte.
    const entry = await store.get(logKey(base.head.position + 1));
    return bytesEqual(entry?.value, lines[0]) ? "landed" : "lost";
  }

  /**
   * Where others wait, their commit is sent off first, within this turn, so that the store works on it
   * while these are answered.
   */
  #acknowledge(attempt: Batch): void {
    if (this.#waiting.length === 0) this.#answer(attempt);
    else this.#answering = this.#parts.runtime.nextTurn().then(() => this.#answer(attempt));
  }

  #answer({ members, lines, records }: Batch): void {
    this.#parts.committed(records);
    this.#parts.watch?.landed(lines.length);
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

  /** Lets go of those at the front that have their answers, before the garbage collector keeps them for good. */
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
