/** Parses the values of flags. All functions throw {@linkcode UsageError}. */

import { UsageError } from "./run_command.ts";

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 36_500 * UNIT_MS.d;

export function parseCount(flag: string, text: string | undefined, min: number) {
  if (text === undefined) return undefined;
  if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min) return Number(text);
  throw new UsageError(`${flag} takes a whole number from ${min} on, not ${JSON.stringify(text)}`);
}

/** Parses a duration like `90d`, `24h`, `30m` or `10s`, and returns milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const match = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  const ms = match === null ? NaN : Number(match[1]) * UNIT_MS[match[2]];
  if (ms <= LONGEST_MS) return ms;
  const form = "a time like 90d, 24h, 30m or 10s, up to 36500d";
  throw new UsageError(`${flag} takes ${form}, not ${JSON.stringify(text)}`);
}
