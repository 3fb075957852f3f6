import { StoreClosedError, StoreError, StoreFullError } from "./store/store_errors.ts";

/** Why an operation failed: a code of the engine, or one by which the application refuses a command. */
export class ServiceError<Code extends string = string> extends Error {
  /** The reason, for programs. It stays the same when the message changes. */
  readonly code: Code;

  /** `options.cause` is for operators: it is logged, and not for clients. */
  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The codes of the engine. */
export type ServiceErrorCode =
  | "feed_reset"
  | "outcome_unknown"
  | "overloaded"
  | "projection_damaged"
  | "rate_limited"
  | "shutting_down"
  | "storage_full"
  | "store_unavailable";

/** The code of an error of the domain or of the store; `undefined` for any other error. */
export function serviceErrorCode(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof StoreClosedError) return "shutting_down";
  if (error instanceof StoreFullError) return "storage_full";
  return error instanceof StoreError ? "store_unavailable" : undefined;
}
