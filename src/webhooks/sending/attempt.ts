/** Why an attempt has no status. The texts explain it to the owner of an endpoint. */
export const ATTEMPT_ERRORS = {
  url_refused: "The URL may not be called: it is not https, or has a private or special address",
  address_refused: "The name has only private or special addresses, which the service never calls",
  name_not_resolved: "The name has no address",
  connection_failed: "The receiver refused the connection, or closed it before its response",
  certificate_refused: "The certificate is not valid for the host, has expired, or is not trusted",
  tls_failed: "The receiver does not speak TLS 1.2 or 1.3",
  malformed_response: "The response is not HTTP/1.1, or its headers are larger than 16 KB",
  timed_out: "The receiver did not respond within 15 s",
};

export type AttemptError = keyof typeof ATTEMPT_ERRORS;

/** The outcome of one request to an endpoint. It has either a `status` or an `error`. */
export interface Attempt {
  /** When it began, in ISO 8601 and UTC. */
  time: string;
  durationMs: number;
  /** The status of the response. A redirect is not followed, so it may be 3xx. */
  status?: number;
  error?: AttemptError;
  /** The beginning of the body of a response that is not 2xx, at most 1 KB; absent if it is empty. */
  answer?: string;
  /** The time of `Retry-After`, from the response on. It has no limit. */
  retryAfterMs?: number;
}

/** Whether the receiver has confirmed the delivery. */
export function isConfirmed({ status }: Pick<Attempt, "status">): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/** Ends an attempt without a status. */
export class AttemptFailedError extends Error {
  override name = "AttemptFailedError";
  readonly code: AttemptError;

  constructor(code: AttemptError) {
    super(ATTEMPT_ERRORS[code]);
    this.code = code;
  }
}
