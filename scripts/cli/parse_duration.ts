import { UsageError } from "./run_command.ts";

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 36_500 * UNIT_MS.d;

/** Parses a duration like `90d`, `24h`, `30m` or `10s`, and returns milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const match = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  const ms = match === null ? NaN : Number(match[1]) * UNIT_MS[match[2]];
  if (ms <= LONGEST_MS) return ms;
  throw new UsageError(
    `${flag} takes a time like 90d, 24h, 30m or 10s, up to 36500d, not ${JSON.stringify(text)}`,
  );
}
