let last = { ms: NaN, text: "" };

/** A time in milliseconds since the Unix epoch as events tell it; made once for all that fall on one. */
export function formatTimestamp(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
