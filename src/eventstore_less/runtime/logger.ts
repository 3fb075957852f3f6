/** The events of all lines that the engine logs. */
export const ENGINE_LOG_EVENTS = [
  "append_failed",
  "clock_jumped",
  "commit_failed",
  "commits_applied",
  "commits_not_applied",
  "head_found",
  "head_lost",
  "idempotency_sweep_failed",
  "on_committed_failed",
  "read_back_failed",
  "storage_available",
  "storage_failing",
  "storage_full",
  "storage_read_only",
  "store_away",
  "store_back",
  "store_damaged",
  "store_file_found",
  "store_file_lost",
  "store_link_moved",
  "store_log_missing",
] as const;

/**
 * Logs one entry for each change of the state of an instance, and for each failure. If a fault has ended, `ends` in the
 * details is the event of its entries.
 */
export type Logger<Event extends string = typeof ENGINE_LOG_EVENTS[number]> = (
  level: "info" | "warn" | "error",
  event: Event,
  details?: Record<string, unknown>,
) => void;

/** For a missing permission, Deno advises a flag. An operator cannot add it to a program. */
const FLAG_ADVICE = /, run again with .*/s;

/** Returns the message of a thrown value with the messages of its causes, without a stack. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return errorMessage(thrown) + (thrown.cause === undefined ? "" : `: ${reasonOf(thrown.cause)}`);
}

/** The message of an error, without what only a developer of the program could do. */
function errorMessage({ name, message }: Error): string {
  if (name !== "NotCapable") return message;
  return message.replace(FLAG_ADVICE, ", which this command does not have");
}

/** The message and the stack of a thrown value, for a line of the log about a defect of the program. */
export function defectOf(thrown: unknown): { reason: string; stack?: string } {
  return { reason: reasonOf(thrown), stack: thrown instanceof Error ? thrown.stack : undefined };
}
