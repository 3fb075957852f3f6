import { defectOf, type Logger } from "../runtime/logger.ts";
import type { Instrumentation } from "./instrumentation.ts";

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
