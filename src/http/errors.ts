/** The table of all error codes and the response for each code (section 7 of the interface). */

import type { ServiceErrorCode } from "../service_error.ts";
import { ServiceError } from "../service_error.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";

interface ErrorEntry {
  status: number;
  /** When the code occurs. */
  when: string;
  /** What the client can do. */
  remedy: string;
}

const TABLE = {
  malformed_body: {
    status: 400,
    when: "The body is not one JSON object in UTF-8",
    remedy: "Send well-formed JSON",
  },
  invalid_body: {
    status: 400,
    when: "The body lacks a required field, holds an invalid value or a field that is not known",
    remedy: "Mend the fields that the message names",
  },
  invalid_idempotency_key: {
    status: 400,
    when: "The Idempotency-Key header is empty, too long or holds characters that it must not",
    remedy: "Send 1 to 255 characters of visible ASCII, such as a UUID",
  },
  invalid_parameter: {
    status: 400,
    when: "A query parameter is not known, is repeated or holds an invalid value",
    remedy: "Mend the parameter that the message names",
  },
  malformed_request: {
    status: 400,
    when: "The Host or Content-Length header is missing, repeated or malformed",
    remedy: "Send one well-formed Host and at most one Content-Length",
  },
  missing_credentials: {
    status: 401,
    when: "The request bears no API key",
    remedy: "Send the key as Authorization: Bearer <API_KEY>",
  },
  invalid_credentials: {
    status: 401,
    when: "The API key is mistyped, unknown, expired or revoked",
    remedy: "Use another key, or ask the operator for one",
  },
  pet_not_found: {
    status: 404,
    when: "No animal has that identifier",
    remedy: "Use an identifier that the service returned",
  },
  not_found: {
    status: 404,
    when: "Nothing stands at that path",
    remedy: "Use a path of the interface",
  },
  method_not_allowed: {
    status: 405,
    when: "The path does not know the method",
    remedy: "Use a method that the Allow header names",
  },
  request_timeout: {
    status: 408,
    when: "The body did not arrive in time",
    remedy: "Send the request again",
  },
  body_too_large: {
    status: 413,
    when: "The body is larger than 64 KiB",
    remedy: "Send a smaller body",
  },
  unsupported_media_type: {
    status: 415,
    when: "The body is not declared as application/json, or is encoded",
    remedy: "Send Content-Type: application/json and no Content-Encoding",
  },
  idempotency_key_reused: {
    status: 422,
    when: "The Idempotency-Key was sent with another animal within the last 24 hours",
    remedy: "Send a new key for a new animal, or the animal that the key was first sent with",
  },
  rate_limited: {
    status: 429,
    when: "The API key sent more requests than the operator allows it",
    remedy: "Try again after Retry-After, and send fewer requests a second",
  },
  internal_error: {
    status: 500,
    when: "The service failed in a way that it did not foresee",
    remedy: "Tell the operator the X-Request-Id",
  },
  projection_damaged: {
    status: 500,
    when: "The stored projections do not agree with the log",
    remedy: "Tell the operator the X-Request-Id; a replay mends it",
  },
  not_ready: {
    status: 503,
    when: "The readiness probe finds no store that answers and outlives the process",
    remedy: "Try again after Retry-After, or mend the store",
  },
  outcome_unknown: {
    status: 503,
    when: "The store gave no clear answer in time: the animal may or may not have been added",
    remedy:
      "Try again after Retry-After with the same Idempotency-Key; sent without one, look first whether it was added",
  },
  overloaded: {
    status: 503,
    when: "Too many additions are waiting; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  shutting_down: {
    status: 503,
    when: "This instance is shutting down; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  store_unavailable: {
    status: 503,
    when: "The store does not answer or is damaged; nothing was stored",
    remedy: "Try again after Retry-After",
  },
} as const satisfies Record<string, ErrorEntry> & Record<ServiceErrorCode, ErrorEntry>;

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Record<ErrorCode, ErrorEntry> = TABLE;

/** A request is refused before it reaches the domain. */
export class HttpError extends Error {
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.headers = headers;
  }
}

/** Value of `Retry-After` on a 429 or a 503, in seconds. */
export const RETRY_AFTER_SECONDS = 1;

/** `WWW-Authenticate` of a 401 (RFC 6750 section 3). */
export const CHALLENGES = {
  missing_credentials: "Bearer",
  invalid_credentials: 'Bearer error="invalid_token"',
} as const;

/** The response to a request that failed with `thrown`. Unknown errors become `internal_error`. */
export function errorResponse(thrown: unknown): HttpResponse {
  const isOurs = thrown instanceof HttpError || thrown instanceof ServiceError;
  const code = isOurs ? thrown.code : "internal_error";
  const message = isOurs ? thrown.message : "The service failed unexpectedly";
  const { status } = ERRORS[code];
  const headers: HttpResponse["headers"] = {
    ...NEVER_STORED,
    ...(thrown instanceof HttpError ? thrown.headers : {}),
  };
  if (code === "missing_credentials" || code === "invalid_credentials") {
    headers["www-authenticate"] = CHALLENGES[code];
  }
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
