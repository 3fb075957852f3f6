const numbers = new Intl.NumberFormat("en-US");

/** Formats a number for people: 12,345. */
export function count(number: number): string {
  return numbers.format(number);
}
