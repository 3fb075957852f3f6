/**
 * The port through which an instance reports what it does. Methods must not wait, because every request calls
 * them; what they throw is a defect (`shielded.ts`).
 */
export interface Instrumentation {
  /** A request has arrived. Its response will have that `X-Request-Id`. */
  onRequest(request: Request, requestId: string): void;
  /** Counts one. */
  count(what: Counter, attributes?: Record<string, string>): void;
  /** A call of the store ended after so many seconds: a read of that key or range of keys, or a commit. */
  onStoreCall(
    operation: "get" | "list" | "commit",
    key: readonly unknown[] | undefined,
    seconds: number,
  ): void;
  /** Registers values of an instance that are read from time to time. */
  observe(gauges: Gauges): void;
}

/** The name of a metric. `open_telemetry.ts` says what each one counts. */
export type Counter =
  | "commit.conflicts"
  | "commit.unclear"
  | "credentials.refused"
  | "events.appended";

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

/** Reports nothing. */
export const NO_INSTRUMENTATION: Instrumentation = {
  onRequest() {},
  count() {},
  onStoreCall() {},
  observe() {},
};
