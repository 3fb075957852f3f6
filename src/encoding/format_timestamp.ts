let last = { ms: NaN, text: "" };

/**
 * Formats a time, in milliseconds since the Unix epoch, as in events. Reuses the last text for an equal time.
 */
export function formatTimestamp(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
