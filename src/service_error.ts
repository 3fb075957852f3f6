/**
 * The reason why an operation failed. The domain throws these errors and does not know HTTP; `http/errors.ts`
 * maps each code to its meaning for clients.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ServiceError";
    this.code = code;
  }
}

export type ServiceErrorCode =
  | "idempotency_key_reused"
  | "invalid_credentials"
  | "outcome_unknown"
  | "overloaded"
  | "projection_damaged"
  | "read_only_key"
  | "shutting_down"
  | "store_unavailable";
