let last = { day: "-", ms: NaN };

/**
 * The milliseconds since the Unix epoch of a time in the form of the log, `2026-01-01T00:00:00.000Z`.
 * Most events of a log fall on the day of the one before, so that only the rest is parsed.
 */
export function instantMs(text: string): number {
  if (!text.startsWith(last.day)) {
    const day = text.slice(0, "2026-01-01".length);
    last = { day, ms: Date.parse(day) };
  }
  return last.ms + digits(text, 11, 13) * 3_600_000 + digits(text, 14, 16) * 60_000 +
    digits(text, 17, 19) * 1_000 + digits(text, 20, 23);
}

function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let index = start; index < end; index++) value = value * 10 + text.charCodeAt(index) - 48;
  return value;
}
