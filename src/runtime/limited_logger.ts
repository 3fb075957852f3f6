import { type Logger, REQUEST_LINE } from "./logger.ts";
import type { Runtime } from "./runtime.ts";

/** Maximum number of lines of one kind in an interval, and the length of an interval in milliseconds. */
export const LINES_LIMIT = 10;
export const INTERVAL_MS = 10_000;

interface Interval {
  beganAt: number;
  lines: number;
  /** The last line beyond the limit. It is logged when the interval ends. */
  last: Parameters<Logger> | undefined;
}

/**
 * Returns a logger that limits the lines that clients can cause with every request. Lines are of one kind if they have
 * the same event and the same `code`. Of the lines beyond the limit, only the last one is logged, at the end of the
 * interval, with the number of the others as `omitted`. The access log is not limited, because it is about each response.
 */
export function limitedLogger(
  report: Logger,
  runtime: Pick<Runtime, "monotonicNow" | "setTimer">,
): Logger {
  const intervals = new Map<string, Interval>();

  const intervalOf = (kind: string): Interval => {
    const current = intervals.get(kind);
    const now = runtime.monotonicNow();
    if (current !== undefined && isRunning(current, now)) return current;
    const next = { beganAt: now, lines: 0, last: undefined };
    intervals.set(kind, next);
    return next;
  };

  return (...line) => {
    const [, event, details] = line;
    if (event === REQUEST_LINE) return report(...line);
    const kind = `${event} ${details?.code}`;
    const interval = intervalOf(kind);
    interval.lines++;
    if (interval.lines <= LINES_LIMIT) return report(...line);
    if (interval.last === undefined) {
      const restMs = interval.beganAt + INTERVAL_MS - runtime.monotonicNow();
      runtime.setTimer(restMs, () => {
        intervals.delete(kind);
        const [level, event, details] = interval.last!;
        report(level, event, { ...details, omitted: interval.lines - LINES_LIMIT - 1 });
      });
    }
    interval.last = line;
  };
}

/** An interval with a last line ends when that line is logged. */
function isRunning({ beganAt, last }: Interval, now: number): boolean {
  return last !== undefined || now - beganAt < INTERVAL_MS;
}
