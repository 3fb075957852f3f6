const numbers = new Intl.NumberFormat("en-US");

/** Formats a number: 12,345. */
export function formatCount(number: number): string {
  return numbers.format(number);
}

/** Formats a number of things whose plural ends in s: 1 event, 12,345 events. */
export function formatCounted(number: number, thing: string): string {
  return `${formatCount(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** Formats a time in milliseconds since the Unix epoch: 2026-01-31 23:59:59Z. */
export function formatSecond(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 19) + "Z";
}

/** Formats a time in milliseconds since the Unix epoch: 2026-01-31 23:59Z. */
export function formatMinute(ms: number): string {
  return formatSecond(ms).slice(0, 16) + "Z";
}

/** The text, cut so that it takes at most that many columns. A character outside of ASCII may take two. */
export function shorten(text: string, columns: number): string {
  let width = 0;
  let fitting = "";
  for (const character of text) {
    width += character.charCodeAt(0) < 0x80 ? 1 : 2;
    if (width <= columns - 2) fitting += character;
  }
  return width <= columns ? text : `${fitting}…`;
}
