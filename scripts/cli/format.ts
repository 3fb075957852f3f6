const numbers = new Intl.NumberFormat("en-US");

/** Formats a number: 12,345. */
export function count(number: number): string {
  return numbers.format(number);
}

/** Formats a number of things whose plural ends in s: 1 event, 12,345 events. */
export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

export function second(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 19) + "Z";
}

export function minute(ms: number): string {
  return second(ms).slice(0, 16) + "Z";
}

/** The text, cut so that it takes at most that many columns. A character outside of ASCII may take two. */
export function shortened(text: string, columns: number): string {
  let width = 0;
  let fitting = "";
  for (const character of text) {
    width += character.charCodeAt(0) < 0x80 ? 1 : 2;
    if (width <= columns - 2) fitting += character;
  }
  return width <= columns ? text : `${fitting}…`;
}
