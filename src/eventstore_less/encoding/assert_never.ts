/** Ends a switch over a closed set. A missing case is a compile error, and throws `TypeError` at run time. */
export function assertNever(value: never): never {
  throw new TypeError(`No case for ${JSON.stringify(value)}`);
}
