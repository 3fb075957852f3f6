import { errorMessage } from "this-runtime/error_message.ts";
import type { LogEvent } from "./log_events.ts";

/**
 * Logs one entry for each change of the service's state (such as start and stop) and for each failure. If a fault has
 * ended, `ends` in the details is the event of its entries.
 */
export type Logger = (
  level: "info" | "warn" | "error",
  event: LogEvent,
  details?: Record<string, unknown>,
) => void;

/** The event of the line for a response. Such lines may be dropped first, because there are many. */
export const REQUEST_LINE: LogEvent = "request";

/** Returns the message of a thrown value with the messages of its causes, without a stack. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return errorMessage(thrown) + (thrown.cause === undefined ? "" : `: ${reasonOf(thrown.cause)}`);
}

export function defectOf(thrown: unknown): { reason: string; stack?: string } {
  return { reason: reasonOf(thrown), stack: thrown instanceof Error ? thrown.stack : undefined };
}
