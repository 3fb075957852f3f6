import { CLOCK_TOLERANCE_MS } from "../log/idempotency_uses.ts";

/** How many of the missing records of one minute are kept; all are counted. */
const KEPT_PER_MINUTE = 20;

const MINUTE_MS = 60_000;

/** A record that the store should still have, of an event at that time. */
export interface MissingRecord {
  key: Deno.KvKey;
  position: number;
}

interface Minute {
  first: MissingRecord[];
  count: number;
}

/**
 * Decides which missing idempotency records are differences. A wrong clock explains one if its event
 * lies in the future, or if a later event has an earlier time, so that the clock was set back: the
 * store removes a record a day after it was written, by a clock of its own.
 *
 * Counts by the minute, so it takes little memory however many are missing: all that are neither
 * explained nor expired lie within a day.
 */
export class MissingIdempotencyRecords {
  /** How many a wrong clock explains. */
  explained = 0;
  #unexplained = new Map<number, Minute>();
  #latestMinute = -Infinity;

  /** Takes a missing record of an event at a time, both in milliseconds since the Unix epoch. */
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
    // Earlier than the whole of a minute: clocks may differ by a little.
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

  /** Unexplained records, each with the number of records that it represents. Call once, after the last event. */
  *differences(): Generator<[record: MissingRecord, count: number]> {
    for (const { first, count } of this.#unexplained.values()) {
      const last = first.pop()!;
      for (const record of first) yield [record, 1];
      yield [last, count - first.length];
    }
  }
}
