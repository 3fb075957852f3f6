import type { RecordedLine } from "../../events/event.ts";

/**
 * The port through which an instance reports what it does. Methods must not wait, because every request calls
 * them; what they throw is a defect (`shielded.ts`). A `Context` identifies the request, if any, for which code runs.
 */
export interface Instrumentation<Context = unknown> {
  /** A request has arrived. Its response will have that `X-Request-Id`. */
  onRequest(request: Request, requestId: string): void;
  /** Counts one. */
  count(what: Counter, attributes?: Record<string, string>): void;
  /** A commit of these lines landed. */
  onCommitted(lines: readonly RecordedLine[]): void;

  /** Runs an operation, and returns its outcome. */
  trace<T>(operation: "append" | "head fresh", run: () => Promise<T>): Promise<T>;
  /** Runs a call of the store: a read of that key or range of keys, or a commit of so many mutations. */
  traceStore<T>(
    operation: "get" | "list" | "commit",
    target: { key?: readonly unknown[]; mutations?: number },
    run: () => Promise<T>,
  ): Promise<T>;
  /** Runs a commit of `events` events. One commit can carry the commands of several callers. */
  traceCommit<T>(callers: Context[], events: number, run: () => Promise<T>): Promise<T>;

  /** Returns the context of the caller, for {@linkcode traceCommit} and {@linkcode restore}. */
  capture(): Context;
  /** Calls `run` in a captured context, or outside every context if it is `undefined`. */
  restore<T>(context: Context | undefined, run: () => T): T;

  /** Registers values of an instance that are read from time to time. */
  observe(gauges: Gauges): void;
}

/** The name of a metric. `open_telemetry.ts` says what each one counts. */
export type Counter =
  | "cache.reads"
  | "commit.conflicts"
  | "commit.unclear"
  | "credentials.refused";

export interface Gauges {
  /** Number of open streams of events and of requests that wait for events. */
  followers: () => number;
  /** Number of commands that wait for a commit. */
  queueLength: () => number;
  /** Position of the newest event that the instance knows. */
  headPosition: () => number | undefined;
  /** Seconds since the newest event that the instance knows; `undefined` if there is none. */
  secondsSinceEvent: () => Promise<number | undefined>;
}

/** Reports nothing. The default wherever a part takes an {@linkcode Instrumentation}. */
export const NO_INSTRUMENTATION: Instrumentation = {
  onRequest() {},
  count() {},
  onCommitted() {},
  trace: (_operation, run) => run(),
  traceStore: (_operation, _target, run) => run(),
  traceCommit: (_callers, _events, run) => run(),
  capture() {},
  restore: (_context, run) => run(),
  observe() {},
};
