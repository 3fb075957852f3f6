import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import { eventOf } from "./lines.ts";
import { readLog } from "./read_log.ts";

/** Seconds since the event at a position; `undefined` if there is none, or if it cannot be read now. */
export async function secondsSinceEvent(
  store: Store,
  runtime: Runtime,
  position: number | undefined,
): Promise<number | undefined> {
  if (position === undefined || position === 0) return undefined;
  try {
    for await (const [{ line }] of readLog(store, { from: position, to: position })) {
      const event = eventOf(line);
      return event && (runtime.now() - Date.parse(event.time)) / 1_000;
    }
  } catch {
    // A gauge without a value is enough: requests and the audit report the failure.
  }
}
