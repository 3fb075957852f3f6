import { defectOf, type Logger } from "../runtime/logger.ts";

/** The port for what an instance does. Every request calls it, so no method may wait; what one throws is a defect. */
export interface Instrumentation {
  /** A request has arrived. Its response will have that `X-Request-Id`. */
  onRequest(request: Request, requestId: string): void;
  count(what: Counter, attributes?: Record<string, string>): void;
  /** A call of the store ended after so many seconds: a read of that key or range of keys, or a commit. */
  onStoreCall(
    operation: "get" | "list" | "commit",
    key: readonly unknown[] | undefined,
    seconds: number,
  ): void;
  /** Registers values that are read from time to time. */
  observe(gauges: Gauges): void;
}

/** `open_telemetry.ts` says what each of these and of the gauges counts. */
export type Counter =
  | "commit.conflicts"
  | "commit.unclear"
  | "credentials.refused"
  | "events.appended";

export interface Gauges {
  followers: () => number;
  queueLength: () => number;
  headPosition: () => number | undefined;
  secondsSinceEvent: () => Promise<number | undefined>;
}

export const NO_INSTRUMENTATION: Instrumentation = {
  onRequest() {},
  count() {},
  onStoreCall() {},
  observe() {},
};

/** Makes an instrumentation unable to fail what calls it. Its first error is logged as a defect. */
export function shielded(inner: Instrumentation, report: Logger): Instrumentation {
  let hasFailed = false;
  const shield = <Args extends unknown[]>(call: (...args: Args) => void) => (...args: Args) => {
    try {
      call(...args);
    } catch (error) {
      if (!hasFailed) report("error", "telemetry_failed", defectOf(error));
      hasFailed = true;
    }
  };
  return {
    onRequest: shield(inner.onRequest),
    count: shield(inner.count),
    onStoreCall: shield(inner.onStoreCall),
    observe: shield(inner.observe),
  };
}
