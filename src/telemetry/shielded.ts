import { defectOf, type Logger } from "../runtime/logger.ts";
import type { Instrumentation } from "./instrumentation.ts";

/**
 * Makes an instrumentation unable to fail what calls it. Its first error is logged as a defect. An operation runs exactly
 * once, and its caller gets its own outcome.
 */
export function shielded(inner: Instrumentation, report: Logger): Instrumentation {
  let hasFailed = false;
  const onError = (error: unknown) => {
    if (!hasFailed) report("error", "telemetry_failed", defectOf(error));
    hasFailed = true;
  };
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      onError(error);
    }
  };
  const within = <T>(run: () => T, wrap: (run: () => T) => unknown): T => {
    let outcome: { value: T } | { error: unknown } | undefined;
    const runOnce = (): T => {
      try {
        outcome ??= { value: run() };
      } catch (error) {
        outcome = { error };
      }
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    };
    const wrapped = attempt(() => wrap(runOnce));
    const value = runOnce();
    // If the operation rejects, that is its own error.
    if (wrapped instanceof Promise) {
      wrapped.catch((error) => Promise.resolve(value).then(() => onError(error), () => {}));
    }
    return value;
  };
  return {
    onRequest: (request, requestId) => attempt(() => inner.onRequest(request, requestId)),
    count: (what, attributes) => attempt(() => inner.count(what, attributes)),
    onCommitted: (lines) => attempt(() => inner.onCommitted(lines)),
    trace: (operation, run) => within(run, (run) => inner.trace(operation, run)),
    traceStore: (operation, target, run) =>
      within(run, (run) => inner.traceStore(operation, target, run)),
    traceCommit: (callers, events, run) =>
      within(run, (run) => inner.traceCommit(callers, events, run)),
    capture: () => attempt(() => inner.capture()),
    restore: (context, run) => within(run, (run) => inner.restore(context, run)),
    observe: (gauges) => attempt(() => inner.observe(gauges)),
  };
}
