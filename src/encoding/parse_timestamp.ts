let last = { day: "-", ms: NaN };

/**
 * Parses a time of the log, such as `2026-01-01T00:00:00.000Z`, into milliseconds since the Unix epoch. Most
 * events have the same day as the event before, so the parsed day is cached.
 */
export function parseTimestamp(text: string): number {
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
