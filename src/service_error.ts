/**
 * The reason why an operation failed. The domain throws these errors and does not know HTTP; `http/errors.ts`
 * maps each code to its meaning for clients.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** Whether the lasting condition is already logged, so that the requests that it fails are not. */
  readonly isLogged: boolean;

  constructor(code: ServiceErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options);
    this.name = "ServiceError";
    this.code = code;
    this.isLogged = options.isLogged ?? false;
  }
}

export interface ServiceErrorOptions extends ErrorOptions {
  isLogged?: boolean;
}

export type ServiceErrorCode =
  | "idempotency_key_reused"
  | "invalid_credentials"
  | "outcome_unknown"
  | "overloaded"
  | "projection_damaged"
  | "read_only_key"
  | "shutting_down"
  | "storage_full"
  | "store_unavailable";
