import type { Application } from "../application.ts";
import type { BackgroundWork } from "../feed/background_work.ts";
import { IDEMPOTENCY_KIND, isOver, kindPrefix } from "../keyspace.ts";
import type { HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { logTime } from "../log/read_log.ts";
import { decodeRecord } from "../projections/project.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { KeyRange, Mutation, Store, StoreEntry } from "../store/store.ts";

/** Time between two looks at the clock, in milliseconds. */
const LOOK_MS = 60_000;

/** Time from the start, or from a failure, to the next sweep, in milliseconds. */
export const FIRST_SWEEP_MS = 5 * 60_000;

/** Time between two sweeps, in milliseconds. */
export const SWEEP_INTERVAL_MS = 2 * 60 * 60_000;

/** How far the wall clock may move against the monotonic one between two looks, in milliseconds. */
export const CLOCK_JUMP_MS = 60_000;

/** Time after a jump of the clock in which nothing is removed, in milliseconds of the monotonic clock. */
export const CLOCK_DOUBT_MS = 60 * 60_000;

/** Number of records that are read at once, and the most that one commit removes. */
const BATCH_RECORDS = 100;

/** The surroundings of an {@linkcode IdempotencyKeySweep}. */
export interface IdempotencyKeySweepDeps {
  /** The application of the store. */
  application: Application;
  /** Gives the sweep its turns. */
  background: BackgroundWork;
  /** Reads the head. */
  heads: HeadReader;
  /** Time and timers. */
  runtime: Runtime;
  /** Logs clocks that jump, and sweeps that fail. */
  report: Logger;
  /** The store with the records. */
  store: Store;
  /** Whether the store is known to have no fault, so that a sweep may begin. */
  isStoreSound: () => boolean;
}

/**
 * Removes the records of Idempotency-Keys from the served generation some time after they have expired, in the
 * background. It follows the clock and the times in the log together, because a store that removes records by the clock
 * alone loses all of them to a clock that is wrong for a moment. Several instances may sweep at once, also during a
 * replay: the key of a record ends with a position, so no other record is ever stored under it.
 */
export class IdempotencyKeySweep {
  #deps: IdempotencyKeySweepDeps;
  #cancelLook: () => void = () => {};
  #look: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** How far the wall clock was ahead of the monotonic one at the last look, in milliseconds. */
  #leadMs = 0;
  /** Monotonic times in milliseconds from which the next sweep is due, and from which the clock counts as right. */
  #dueAt = Infinity;
  #trustedAt = -Infinity;

  /** Does nothing before start(). */
  constructor(deps: IdempotencyKeySweepDeps) {
    this.#deps = deps;
  }

  /** Begins to look at the clock, and to sweep from time to time. */
  start(): void {
    const { runtime } = this.#deps;
    this.#leadMs = runtime.now() - runtime.monotonicNow();
    this.#dueAt = runtime.monotonicNow() + FIRST_SWEEP_MS;
    this.#scheduleLook();
  }

  /** Ends it. Resolves when it makes no more calls of the store. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelLook();
    await this.#look;
  }

  #scheduleLook(): void {
    if (this.#isStopped) return;
    this.#cancelLook = this.#deps.runtime.setTimer(LOOK_MS, () => {
      this.#look = this.#sweepIfDue().then(() => this.#scheduleLook());
    });
  }

  async #sweepIfDue(): Promise<void> {
    const { heads, report, runtime, isStoreSound } = this.#deps;
    this.#watchClock();
    if (runtime.monotonicNow() < this.#dueAt || !this.#isClockTrusted || !isStoreSound()) return;
    // Others report a store that is away, or is not ready.
    const entry = await heads.read().catch(() => undefined);
    if (entry === undefined) return;
    try {
      await this.#sweep(entry);
      this.#dueAt = runtime.monotonicNow() + SWEEP_INTERVAL_MS;
    } catch (error) {
      this.#dueAt = runtime.monotonicNow() + FIRST_SWEEP_MS;
      if (this.#isStopped) return;
      report("warn", "idempotency_sweep_failed", {
        reason: reasonOf(error),
        remedy: "None is needed: expired Idempotency-Keys stay in the store until a later sweep",
      });
    }
  }

  async #sweep({ head: { generation, position } }: HeadEntry): Promise<void> {
    const { application, background, runtime, store } = this.#deps;
    const time = await logTime(application, store, runtime, position);
    // The clock may have jumped since the look, before the time was taken.
    this.#watchClock();
    if (!this.#isClockTrusted) return;
    const prefix = kindPrefix(generation, IDEMPOTENCY_KIND);
    let rest: KeyRange = { prefix };
    for (let isLast = false; !isLast;) {
      await background.turn("events");
      if (this.#isStopped) return;
      const entries = await store.list(rest, { limit: BATCH_RECORDS });
      await this.#remove(entries.filter((entry) => isOver(expiryOf(application, entry), time)));
      isLast = entries.length < BATCH_RECORDS;
      // From the next possible key on.
      if (!isLast) rest = { prefix, start: [...entries.at(-1)!.key, new Uint8Array()] };
    }
  }

  async #remove(entries: StoreEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const mutations = entries.map(({ key }): Mutation => ({ type: "delete", key }));
    const [{ key, versionstamp }] = entries;
    // If the first record has gone, another instance removes these.
    await this.#deps.store.commit({ guard: { key, versionstamp }, mutations });
  }

  get #isClockTrusted(): boolean {
    return this.#deps.runtime.monotonicNow() >= this.#trustedAt;
  }

  /** Notices that the clock was set, or that the machine was suspended, for which the monotonic clock stops. */
  #watchClock(): void {
    const { report, runtime } = this.#deps;
    const leadMs = runtime.now() - runtime.monotonicNow();
    const movedMs = leadMs - this.#leadMs;
    this.#leadMs = leadMs;
    if (Math.abs(movedMs) <= CLOCK_JUMP_MS) return;
    this.#trustedAt = runtime.monotonicNow() + CLOCK_DOUBT_MS;
    report("warn", "clock_jumped", {
      seconds: Math.round(movedMs / 1_000),
      remedy: "Check the clock of this machine, unless it was suspended. No expired " +
        "Idempotency-Keys are removed for an hour",
    });
  }
}

/** When a record expires, in milliseconds since the Unix epoch. One that is damaged is left for the audit. */
function expiryOf(application: Application, entry: StoreEntry): number {
  try {
    const expiresAt = Date.parse(decodeRecord(application, entry).expiresAt);
    return Number.isNaN(expiresAt) ? Infinity : expiresAt;
  } catch {
    return Infinity;
  }
}
