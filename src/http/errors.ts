/** The table of all error codes and the response for each code (section 7 of the interface). */

import { STATUS_CODE } from "@std/http/status";
import type { ServiceErrorCode } from "../service_error.ts";
import { ServiceError } from "../service_error.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";

interface ErrorEntry {
  status: number;
  /** When the code occurs. */
  when: string;
  /** The remedy for the client. */
  remedy: string;
}

const TABLE = {
  malformed_body: {
    status: STATUS_CODE.BadRequest,
    when: "The body is not one JSON object in UTF-8",
    remedy: "Send well-formed JSON",
  },
  invalid_body: {
    status: STATUS_CODE.BadRequest,
    when: "The body lacks a required field, or has an invalid value or an unknown field",
    remedy: "Correct the fields that the message names",
  },
  invalid_idempotency_key: {
    status: STATUS_CODE.BadRequest,
    when: "The Idempotency-Key header is empty, too long or has a character that is not allowed",
    remedy: "Send 1 to 255 characters of visible ASCII, such as a UUID",
  },
  invalid_parameter: {
    status: STATUS_CODE.BadRequest,
    when: "A query parameter is unknown, repeated or invalid",
    remedy: "Correct the parameter that the message names",
  },
  malformed_request: {
    status: STATUS_CODE.BadRequest,
    when: "The Host or Content-Length header is missing, repeated or malformed",
    remedy: "Send one well-formed Host and at most one Content-Length",
  },
  missing_credentials: {
    status: STATUS_CODE.Unauthorized,
    when: "The request has no API key",
    remedy: "Send the key as Authorization: Bearer <API_KEY>",
  },
  invalid_credentials: {
    status: STATUS_CODE.Unauthorized,
    when: "The API key is mistyped, unknown, expired or revoked",
    remedy: "Use another key, or ask the operator for one",
  },
  read_only_key: {
    status: STATUS_CODE.Forbidden,
    when: "The API key may read animals, but not add any",
    remedy: "Use another key, or ask the operator for one that may add animals",
  },
  pet_not_found: {
    status: STATUS_CODE.NotFound,
    when: "An animal with this identifier does not exist",
    remedy: "Use an identifier that the service returned",
  },
  not_found: {
    status: STATUS_CODE.NotFound,
    when: "The path does not exist",
    remedy: "Use a path of the interface",
  },
  method_not_allowed: {
    status: STATUS_CODE.MethodNotAllowed,
    when: "The path does not support the method",
    remedy: "Use a method that the Allow header names",
  },
  request_timeout: {
    status: STATUS_CODE.RequestTimeout,
    when: "The body did not arrive in time",
    remedy: "Send the request again",
  },
  body_too_large: {
    status: STATUS_CODE.ContentTooLarge,
    when: "The body is larger than 64 KiB",
    remedy: "Send a smaller body",
  },
  unsupported_media_type: {
    status: STATUS_CODE.UnsupportedMediaType,
    when: "The body is not declared as application/json, or is encoded",
    remedy: "Send Content-Type: application/json and no Content-Encoding",
  },
  idempotency_key_reused: {
    status: STATUS_CODE.UnprocessableEntity,
    when: "The Idempotency-Key was sent with another animal within the last 24 hours",
    remedy: "Send a new key for a new animal, or the animal that the key was first sent with",
  },
  rate_limited: {
    status: STATUS_CODE.TooManyRequests,
    when: "The API key sent more requests than the operator allows",
    remedy: "Try again after Retry-After, and send fewer requests per second",
  },
  internal_error: {
    status: STATUS_CODE.InternalServerError,
    when: "The service failed unexpectedly",
    remedy: "Report the X-Request-Id to the operator",
  },
  projection_damaged: {
    status: STATUS_CODE.InternalServerError,
    when: "The stored projections do not match the log",
    remedy:
      "Report the X-Request-Id to the operator, who can rebuild the projections with a replay",
  },
  not_ready: {
    status: STATUS_CODE.ServiceUnavailable,
    when: "The store does not respond, or is lost when the process ends",
    remedy: "Try again after Retry-After, or repair the store",
  },
  outcome_unknown: {
    status: STATUS_CODE.ServiceUnavailable,
    when:
      "The store did not confirm the addition in time: the animal may or may not have been added",
    remedy:
      "Try again after Retry-After with the same Idempotency-Key; without a key, first check whether the animal was added",
  },
  overloaded: {
    status: STATUS_CODE.ServiceUnavailable,
    when: "Too many additions are waiting; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  shutting_down: {
    status: STATUS_CODE.ServiceUnavailable,
    when: "This instance is shutting down; nothing was stored",
    remedy: "Try again after Retry-After",
  },
  store_unavailable: {
    status: STATUS_CODE.ServiceUnavailable,
    when: "The store does not respond or is damaged; nothing was stored",
    remedy: "Try again after Retry-After",
  },
} as const satisfies Record<string, ErrorEntry> & Record<ServiceErrorCode, ErrorEntry>;

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Record<ErrorCode, ErrorEntry> = TABLE;

/** A request that is refused before it reaches the domain. */
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

/** `WWW-Authenticate` of a 401 or a 403 (RFC 6750 section 3). */
export const CHALLENGES = {
  missing_credentials: "Bearer",
  invalid_credentials: 'Bearer error="invalid_token"',
  read_only_key: 'Bearer error="insufficient_scope"',
} as const;

/** The response to a request that failed with `thrown`. Unknown errors become `internal_error`. */
export function errorResponse(thrown: unknown): HttpResponse {
  const isKnown = thrown instanceof HttpError || thrown instanceof ServiceError;
  const code = isKnown ? thrown.code : "internal_error";
  const message = isKnown ? thrown.message : ERRORS.internal_error.when;
  const { status } = ERRORS[code];
  const headers: HttpResponse["headers"] = {
    ...NEVER_STORED,
    ...(thrown instanceof HttpError ? thrown.headers : {}),
  };
  if (code in CHALLENGES) {
    headers["www-authenticate"] = CHALLENGES[code as keyof typeof CHALLENGES];
  }
  if (status === STATUS_CODE.TooManyRequests || status === STATUS_CODE.ServiceUnavailable) {
    headers["retry-after"] = String(RETRY_AFTER_SECONDS);
  }
  return { status, headers, body: JSON.stringify({ code, message, status }) };
}

const NAME_REPEATED_LENGTH = 50;

/** Quotes and truncates a name that a client sent, for use in a message. */
export function quoted(name: string): string {
  return JSON.stringify(
    name.length <= NAME_REPEATED_LENGTH ? name : `${name.slice(0, NAME_REPEATED_LENGTH)}…`,
  );
}
