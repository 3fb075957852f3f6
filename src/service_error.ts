/**
 * Why the service did not do what it was asked. The domain throws these and knows no HTTP; what each
 * code means to a client stands in `http/errors.ts`.
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
  | "shutting_down"
  | "store_unavailable";
