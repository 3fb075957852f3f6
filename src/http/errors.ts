/** The table of all error codes (section 7 of the interface). */

import { type ServiceErrorCode, serviceErrorCode } from "../service_error.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";

interface ErrorEntry {
  status: number;
  /** When the code occurs. */
  when: string;
  /** The remedy for the client. */
  remedy: string;
  /** `WWW-Authenticate` (RFC 6750 section 3). */
  challenge?: string;
}

const TABLE = {
  malformed_body: {
    status: 400,
    when: "The body is not one JSON object in UTF-8",
    remedy: "Send well-formed JSON",
  },
  invalid_body: {
    status: 400,
    when: "The body lacks a required field, or has an invalid value or an unknown field",
    remedy: "Correct the fields that the message names",
  },
  invalid_idempotency_key: {
    status: 400,
    when: "The Idempotency-Key header is empty, too long or has a character that is not allowed",
    remedy: "Send 1 to 255 characters of visible ASCII, such as a UUID",
  },
  invalid_parameter: {
    status: 400,
    when: "A query parameter is unknown, repeated or invalid",
    remedy: "Correct the parameter that the message names",
  },
  malformed_request: {
    status: 400,
    when:
      "The Host or Content-Length header is missing, repeated or malformed, or If-Match or Last-Event-ID is malformed",
    remedy:
      "Send one well-formed Host, at most one Content-Length, entity tags in If-Match, and the id of an event in Last-Event-ID",
  },
  missing_credentials: {
    status: 401,
    when: "The request has no API key",
    remedy: "Send the key as Authorization: Bearer <API_KEY>",
    challenge: "Bearer",
  },
  invalid_credentials: {
    status: 401,
    when: "The API key is mistyped, unknown, expired or revoked",
    remedy: "Use another key, or ask the operator for one",
    challenge: 'Bearer error="invalid_token"',
  },
  read_only_key: {
    status: 403,
    when: "The API key may read animals, but not add or change any",
    remedy: "Use another key, or ask the operator for one that may add and change animals",
    challenge: 'Bearer error="insufficient_scope"',
  },
  pet_not_found: {
    status: 404,
    when: "An animal with this identifier does not exist",
    remedy: "Use an identifier that the service returned",
  },
  not_found: {
    status: 404,
    when: "The path does not exist",
    remedy: "Use a path of the interface",
  },
  method_not_allowed: {
    status: 405,
    when: "The path does not support the method",
    remedy: "Use a method that the Allow header names",
  },
  request_timeout: {
    status: 408,
    when: "The body did not arrive in time",
    remedy: "Send the request again",
  },
  idempotency_key_reused: {
    status: 409,
    when: "The Idempotency-Key was sent with another request within the last 24 hours",
    remedy: "Send a new key for a new animal or change, or repeat the request of the key",
  },
  feed_reset: {
    status: 410,
    when:
      "The log has no event with this id: it is another log, or was restored to an earlier state",
    remedy:
      "Follow from lastEventId=now and then read the animals again, or read all events from the beginning",
  },
  precondition_failed: {
    status: 412,
    when: "The animal is not, or no longer, the one that If-Match names; nothing was changed",
    remedy: "Read the animal again, and decide again with its new ETag",
  },
  body_too_large: {
    status: 413,
    when: "The body is larger than 64 KiB",
    remedy: "Send a smaller body",
  },
  unsupported_media_type: {
    status: 415,
    when:
      "The body is not declared as application/json (or application/merge-patch+json, for a change), or is encoded",
    remedy: "Send Content-Type: application/json and no Content-Encoding",
  },
  rate_limited: {
    status: 429,
    when: "The API key sent more requests than the operator allows, or follows too many times",
    remedy: "Try again after Retry-After, and send fewer requests per second or end streams",
  },
  internal_error: {
    status: 500,
    when: "The service failed unexpectedly",
    remedy: "Report the X-Request-Id to the operator",
  },
  projection_damaged: {
    status: 500,
    when: "The stored projections do not match the log",
    remedy:
      "Report the X-Request-Id to the operator, who can rebuild the projections with a replay",
  },
  not_ready: {
    status: 503,
    when: "The store does not respond, or is lost when the process ends",
    remedy: "Try again after Retry-After, or repair the store",
  },
  outcome_unknown: {
    status: 503,
    when:
      "The store did not confirm the request in time: the animal may or may not have been added or changed",
    remedy:
      "Try again after Retry-After with the same Idempotency-Key; without a key, first check the animal",
  },
  overloaded: {
    status: 503,
    when:
      "Too many additions and changes are waiting, or too many clients follow; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  shutting_down: {
    status: 503,
    when: "This instance is shutting down; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  storage_full: {
    status: 503,
    when: "The disk of the store is full; nothing was stored",
    remedy: "Try again after Retry-After; the operator must free space",
  },
  store_unavailable: {
    status: 503,
    when: "The store does not respond or is damaged; nothing was stored",
    remedy: "Try again after Retry-After",
  },
} as const satisfies Record<string, ErrorEntry> & Record<ServiceErrorCode, ErrorEntry>;

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Record<ErrorCode, ErrorEntry> = TABLE;

/**
 * A request that is refused before it reaches the domain. The message says what to do. Because a request may
 * hold a secret, a message repeats at most names of fields and parameters, and an integer id.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** Value of `Retry-After` on a 429 or a 503, in seconds. */
export const RETRY_AFTER_SECONDS = 1;

/** The code of an error. Unknown errors are `internal_error`. */
export function codeOf(thrown: unknown): ErrorCode {
  return thrown instanceof HttpError ? thrown.code : serviceErrorCode(thrown) ?? "internal_error";
}

/** The response to a failed request. */
export function errorResponse(thrown: unknown): HttpResponse {
  const code = codeOf(thrown);
  const { status, challenge } = ERRORS[code];
  const message = code === "internal_error" ? ERRORS[code].when : (thrown as Error).message;
  const headers: HttpResponse["headers"] = { ...NEVER_STORED };
  if (thrown instanceof HttpError) Object.assign(headers, thrown.headers);
  if (challenge !== undefined) headers["www-authenticate"] = challenge;
  if (status === 429 || status === 503) headers["retry-after"] = String(RETRY_AFTER_SECONDS);
  return { status, headers, body: JSON.stringify({ code, message, status }) };
}

const NAME_REPEATED_LENGTH = 50;

/** Quotes and truncates a name that a client sent, for use in a message. */
export function quoted(name: string): string {
  return JSON.stringify(
    name.length <= NAME_REPEATED_LENGTH ? name : `${name.slice(0, NAME_REPEATED_LENGTH)}…`,
  );
}
