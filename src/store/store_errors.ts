/**
 * The errors of a store, which its engine tells apart. After any other error of a call, its outcome is unclear;
 * after any other error of a connection, the store is away.
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
