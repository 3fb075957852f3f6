/** The errors of a store. Their class says what a failed call did, and whether another attempt can help. */

import { ServiceError, type ServiceErrorCode, type ServiceErrorOptions } from "../service_error.ts";

/** A call of a store failed. Every such error is one of those below. */
export abstract class StoreError extends ServiceError {
  constructor(
    message: string,
    options?: ServiceErrorOptions,
    code: ServiceErrorCode = "store_unavailable",
  ) {
    super(code, message, options);
    this.name = new.target.name;
  }
}

/** The call had no effect and may be repeated at once, for example after a lock or a serialization failure. */
export class NotAppliedError extends StoreError {}

/** The call may have had its effect: a commit may have landed, or may still land. */
export class UnclearOutcomeError extends StoreError {}

/** The store cannot be reached. Nothing was sent. */
export class StoreAwayError extends StoreError {}

/** No connection to the store is open. */
export class StoreNotReachedError extends StoreAwayError {
  constructor() {
    super("The store is not connected");
  }
}

/**
 * The store refuses the call, and another attempt does not help: no rights, data of another program, a commit
 * that is too large. Nothing was stored.
 */
export class StoreRefusedError extends StoreError {}

/** The disk of the store is full, so a commit stored nothing. Reads still work. */
export class StoreFullError extends StoreRefusedError {
  constructor(options?: ErrorOptions) {
    const message = "The disk of the store is full, so nothing was stored";
    super(message, { ...options, isLogged: true }, "storage_full");
  }
}

/** The file of the store is damaged: SQLite or Deno KV cannot read a part of it. Nothing was stored. */
export class StoreDamagedError extends StoreRefusedError {
  /** The words of SQLite or Deno KV. They are not for clients. */
  readonly reason: string;

  constructor(reason: string) {
    super("The store's file is damaged", { cause: `${reason}; run deno task audit` });
    this.reason = reason;
  }
}

/** Whether a commit that rejected with this error may have landed. */
export function mayHaveLanded(error: unknown): boolean {
  return !(error instanceof StoreError) || error instanceof UnclearOutcomeError;
}
