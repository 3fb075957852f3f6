/** Where the service says what becomes of it: a line for each change of its life and for each failure. */
export type Logger = (
  level: "info" | "warn" | "error",
  event: string,
  details?: Record<string, unknown>,
) => void;

/** The words of anything thrown, without its stack, and with what caused it. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause === undefined
    ? thrown.message
    : `${thrown.message}: ${reasonOf(thrown.cause)}`;
}
