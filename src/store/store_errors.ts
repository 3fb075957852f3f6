/**
 * The errors of a store that have a known effect. After any other error of a call, the outcome is unknown.
 * After any other error of a connection, retry the connection.
 */

import { ServiceError } from "../service_error.ts";

/** The call was not made, or met a lock. It had no effect. */
export class NotAttemptedError extends ServiceError {
  constructor(message: string) {
    super("store_unavailable", message);
  }
}

/** The store answers but cannot be used, and waiting does not help. */
export class StoreRefusedError extends Error {
  override name = "StoreRefusedError";
}
