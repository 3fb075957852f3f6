import { CLOCK_TOLERANCE_MS } from "../../src/log/idempotency_uses.ts";
import type { Key } from "../../src/store/store.ts";

/** How many missing records are kept for each minute; all are counted. */
const KEPT_PER_MINUTE = 20;

const MINUTE_MS = 60_000;

/** A record that the store should still have, and the position of its event. */
export interface MissingRecord {
  key: Key;
  position: number;
}

interface Minute {
  first: MissingRecord[];
  count: number;
}

/**
 * Decides which missing idempotency records are differences. A wrong clock explains a missing record in two
 * cases: its event lies in the future, or a later event has an earlier time because a clock was set back. The
 * reason is that the store removes a record a day after it was written, by the store's own clock.
 *
 * Memory is bounded, because records are counted by the minute: all records that are neither explained nor
 * expired lie within one day.
 */
export class MissingIdempotencyRecords {
  /** Number of missing records that a wrong clock explains. */
  explained = 0;
  #unexplained = new Map<number, Minute>();
  #latestMinute = -Infinity;

  /**
   * Adds a missing record. `timeMs` is the time of its event. Times are milliseconds since the Unix epoch.
   */
  add(record: MissingRecord, timeMs: number, nowMs: number): void {
    if (timeMs > nowMs + CLOCK_TOLERANCE_MS) {
      this.explained++;
      return;
    }
    const minute = Math.floor(timeMs / MINUTE_MS);
    this.#latestMinute = Math.max(this.#latestMinute, minute);
    const missing = this.#unexplained.get(minute) ?? { first: [], count: 0 };
    if (missing.first.length < KEPT_PER_MINUTE) missing.first.push(record);
    missing.count++;
    this.#unexplained.set(minute, missing);
  }

  /** Takes the time of the next event of the log. */
  observe(time: string): void {
    if (this.#unexplained.size === 0) return;
    // Explains only minutes that begin later than this time, with a tolerance because clocks differ slightly.
    const from = (Date.parse(time) + CLOCK_TOLERANCE_MS) / MINUTE_MS;
    if (this.#latestMinute <= from) return;
    this.#latestMinute = -Infinity;
    for (const [minute, { count }] of this.#unexplained) {
      if (minute > from) {
        this.explained += count;
        this.#unexplained.delete(minute);
      } else this.#latestMinute = Math.max(this.#latestMinute, minute);
    }
  }

  /**
   * Unexplained records, each with the number of records that it represents. Call once, after the last event.
   */
  *differences(): Generator<[record: MissingRecord, count: number]> {
    for (const { first, count } of this.#unexplained.values()) {
      const last = first.pop()!;
      for (const record of first) yield [record, 1];
      yield [last, count - first.length];
    }
  }
}
