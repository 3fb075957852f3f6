import type { RefusalCode } from "eventstore-less/application";
import { StoreClosedError, StoreError, StoreFullError } from "./store/store_errors.ts";

/** Why an operation failed. The domain does not know HTTP: `api/errors.ts` maps each code to what clients see. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export type ServiceErrorCode =
  | "feed_reset"
  | "outcome_unknown"
  | "overloaded"
  | "projection_damaged"
  | "rate_limited"
  | "shutting_down"
  | "storage_full"
  | "store_unavailable"
  | RefusalCode;

/** The code of an error of the domain or of the store; `undefined` for any other error. */
export function serviceErrorCode(error: unknown): ServiceErrorCode | undefined {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof StoreClosedError) return "shutting_down";
  if (error instanceof StoreFullError) return "storage_full";
  return error instanceof StoreError ? "store_unavailable" : undefined;
}
