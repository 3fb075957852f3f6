import type { Runtime } from "eventstore-less";
import { type Logger, REQUEST_LINE } from "./logger.ts";

type Line = Parameters<Logger>;

/** The length of an interval in milliseconds. */
export const INTERVAL_MS = 10_000;

/** Maximum number of lines of one kind in an interval if they name requests, because these lines differ. */
export const REQUESTS_LIMIT = 10;

/**
 * Returns a logger that limits the lines that repeat, so that a part of the service can report every failure. Lines are
 * of one kind if they have the same event and the same `code`. In an interval, the first line of a kind is logged at
 * once, or the first {@linkcode REQUESTS_LIMIT} that have a `requestId`. Of the others, only the last one is logged, at
 * the end of the interval, with the number of those before it as `omitted`. It is the first one of the next interval.
 *
 * A line with `ends` says that the fault of that event has ended. It is logged if the fault was logged since the last such
 * line, and then held lines of the fault are dropped. The access log is not limited, because it is about each response.
 */
export function limitedLogger(
  report: Logger,
  runtime: Pick<Runtime, "monotonicNow" | "setTimer">,
): Logger {
  const kinds = new Map<string, LineKind>();
  return (...line) => {
    const [, event, details] = line;
    if (event === REQUEST_LINE) return report(...line);
    if (details?.ends !== undefined) return kinds.get(String(details.ends))?.end(line);
    const kind = details?.code === undefined ? event : `${event} ${details.code}`;
    // Node 24 has no Map.getOrInsertComputed().
    const lines = kinds.get(kind) ?? new LineKind(report, runtime);
    kinds.set(kind, lines);
    lines.log(line);
  };
}

/** The lines of one kind. */
class LineKind {
  #report: Logger;
  #runtime: Pick<Runtime, "monotonicNow" | "setTimer">;
  /** Monotonic time in milliseconds at which the interval ends. */
  #endsAt = -Infinity;
  /** Number of lines in the interval that were logged. */
  #logged = 0;
  /** The last line beyond the limit, the number of those before it, and what cancels its timer. */
  #held: { line: Line; omitted: number; cancel: () => void } | undefined;
  /** Whether a line was logged since the fault ended. */
  #hasBegun = false;

  constructor(report: Logger, runtime: Pick<Runtime, "monotonicNow" | "setTimer">) {
    this.#report = report;
    this.#runtime = runtime;
  }

  log(line: Line): void {
    const held = this.#held;
    if (held !== undefined) {
      held.line = line;
      held.omitted++;
      return;
    }
    const now = this.#runtime.monotonicNow();
    if (now >= this.#endsAt) this.#beginInterval(now);
    const [, , details] = line;
    const limit = details?.requestId === undefined ? 1 : REQUESTS_LIMIT;
    if (this.#logged < limit) return this.#write(line);
    const cancel = this.#runtime.setTimer(this.#endsAt - now, () => this.#writeHeld());
    this.#held = { line, omitted: 0, cancel };
  }

  end(line: Line): void {
    this.#held?.cancel();
    this.#held = undefined;
    if (this.#hasBegun) this.#report(...line);
    this.#hasBegun = false;
  }

  #beginInterval(now: number): void {
    this.#endsAt = now + INTERVAL_MS;
    this.#logged = 0;
  }

  #write(line: Line): void {
    this.#logged++;
    this.#hasBegun = true;
    this.#report(...line);
  }

  #writeHeld(): void {
    const { line: [level, event, details], omitted } = this.#held!;
    this.#held = undefined;
    this.#beginInterval(this.#runtime.monotonicNow());
    this.#write([level, event, { ...details, omitted }]);
  }
}
