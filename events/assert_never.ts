/** Ends a switch over a closed set: a value that no case names is an error of the compiler, and throws if it exists. */
export function assertNever(value: never): never {
  throw new TypeError(`No case for ${JSON.stringify(value)}`);
}
