/** A command could run, but refuses, and exits with 1; the message says why. */
export class RefusedError extends Error {
  override name = this.constructor.name;
}
