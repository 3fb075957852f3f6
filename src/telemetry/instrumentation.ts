/**
 * The port through which an instance reports what it does. Methods must not throw or wait, because every
 * request calls them.
 *
 * A `Context` identifies the request, if any, for which code runs.
 */
export interface Instrumentation<Context = unknown> {
  /** A request has arrived. Its response will have that `X-Request-Id`. */
  onRequest(request: Request, requestId: string): void;
  /** A request is answered 401. */
  onCredentialsRefused(reason: "missing" | "invalid"): void;
  /** A hit is a look-up that memory answers. A miss reads the store. */
  onCacheRead(cache: "keys" | "pets" | "pages", result: "hit" | "miss"): void;

  /** Runs an operation, and returns its outcome. */
  trace<T>(operation: "append" | "head fresh", run: () => Promise<T>): Promise<T>;
  traceStoreRead<T>(
    operation: "get" | "list",
    key: readonly unknown[],
    run: () => Promise<T>,
  ): Promise<T>;
  traceStoreCommit<T>(mutations: number, run: () => Promise<T>): Promise<T>;
  /** Runs a commit of `events` events. One commit can carry the commands of several callers. */
  traceCommit<T>(callers: Context[], events: number, run: () => Promise<T>): Promise<T>;

  /** Returns the context of the caller, for {@linkcode traceCommit} and {@linkcode restore}. */
  capture(): Context;
  /** Calls `run` in a captured context, or outside every context if it is `undefined`. */
  restore<T>(context: Context | undefined, run: () => T): T;

  /** A commit of `events` events landed. */
  onCommitted(events: number): void;
  /** A commit of another instance moved the head first. */
  onConflict(): void;
  /** An attempt to commit failed in a way that does not show whether it landed. */
  onUnclearOutcome(): void;

  /** A phase of a replay, an audit or a restore has done so many units. */
  onProgress(phase: string, unit: string, done: number): void;
  /** An audit has found a store sound, at that time in milliseconds since the Unix epoch. */
  onSoundAudit(time: number): void;
  /** Registers values of an instance that are read from time to time. */
  observe(gauges: Gauges): void;
}

export interface Gauges {
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
  onCredentialsRefused() {},
  onCacheRead() {},
  trace: (_operation, run) => run(),
  traceStoreRead: (_operation, _key, run) => run(),
  traceStoreCommit: (_mutations, run) => run(),
  traceCommit: (_callers, _events, run) => run(),
  capture() {},
  restore: (_context, run) => run(),
  onCommitted() {},
  onConflict() {},
  onUnclearOutcome() {},
  onProgress() {},
  onSoundAudit() {},
  observe() {},
};
