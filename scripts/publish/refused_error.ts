/** A command refuses, and exits with 1: the log, what was published, or a witness is not as it should be. */
export class RefusedError extends Error {
  override name = "RefusedError";
}
