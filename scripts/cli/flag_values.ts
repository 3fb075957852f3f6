/** Parses the values of flags. All functions throw {@linkcode UsageError}. */

import { z } from "zod";
import { UsageError } from "./table_entry.ts";
import { isSubject, SUBJECT_FORMS } from "./subject_text.ts";

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 36_500 * UNIT_MS.d;

export function parseCount(flag: string, text: string | undefined, min: number) {
  if (text === undefined) return undefined;
  if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min) return Number(text);
  throw wrongFormError(flag, `a whole number from ${min} on`, text);
}

/** Parses a duration like `90d`, `24h`, `30m` or `10s`, and returns milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const match = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  const ms = match === null ? NaN : Number(match[1]) * UNIT_MS[match[2]];
  if (ms <= LONGEST_MS) return ms;
  throw wrongFormError(flag, "a time like 90d, 24h, 30m or 10s, up to 36500d", text);
}

/** A date, or a date and a time. Without an offset, the time is in UTC. */
const Time = z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })]);

/** Parses a time, or a duration before now, into the form that the time of an event has. */
export function parseTime(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d+[smhd]$/.test(text)) {
    return new Date(Date.now() - parseDuration(flag, text)).toISOString();
  }
  const time = text.replace(/(T\d\d:\d\d)(?=[Z+-]|$)/, "$1:00");
  if (!Time.safeParse(time).success) {
    const form = "a time like 2026-11-20, 2026-11-20T08:00Z, 2026-11-20T09:00+01:00 or 24h (ago)";
    throw wrongFormError(flag, form, text);
  }
  const isWithoutOffset = /T[^Z+-]*$/.test(time);
  return new Date(isWithoutOffset ? `${time}Z` : time).toISOString();
}

export function expectSubject(flag: string, text: string): void {
  if (!isSubject(text)) throw wrongFormError(flag, SUBJECT_FORMS.join(" or "), text);
}

export function wrongFormError(flag: string, form: string, text: string): UsageError {
  return new UsageError(`${flag} takes ${form}, not ${JSON.stringify(text)}`);
}
