import { UsageError } from "./run_command.ts";

/** Parses the value of a flag, if it is given. Throws {@linkcode UsageError}. */
export function parseCount(
  flag: string,
  text: string | undefined,
  min: number,
): number | undefined {
  if (text === undefined) return undefined;
  if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min) return Number(text);
  throw new UsageError(`${flag} takes a whole number from ${min} on, not ${JSON.stringify(text)}`);
}
