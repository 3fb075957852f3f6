/**
 * Why the service did not do what it was asked. The domain throws these and knows no HTTP; what each
 * code means to a client stands in `http/errors.ts`.
 */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Failure";
    this.code = code;
  }
}

export type FailureCode =
  | "idempotency_key_reused"
  | "invalid_credentials"
  | "outcome_unknown"
  | "overloaded"
  | "projection_damaged"
  | "shutting_down"
  | "store_unavailable";
