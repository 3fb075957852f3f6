/**
 * Logs one entry for each change of the service's state (such as start and stop) and for each failure. If a fault has
 * ended, `ends` in the details is the event of its entries.
 */
export type Logger = (
  level: "info" | "warn" | "error",
  event: string,
  details?: Record<string, unknown>,
) => void;

/** The event of the line for a response. Such lines may be dropped first, because there are many. */
export const REQUEST_LINE = "request";

/** For a missing permission, Deno advises a flag. An operator cannot add it to a task. */
const FLAG_ADVICE = /, run again with .*/s;

/** Returns the message of a thrown value with the messages of its causes, without a stack. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const isDenied = thrown.name === "NotCapable";
  const denied = thrown.message.replace(FLAG_ADVICE, ", which this command does not have");
  const message = isDenied ? denied : thrown.message;
  return message + (thrown.cause === undefined ? "" : `: ${reasonOf(thrown.cause)}`);
}

export function defectOf(thrown: unknown): { reason: string; stack?: string } {
  return { reason: reasonOf(thrown), stack: thrown instanceof Error ? thrown.stack : undefined };
}
