/** The table of all error codes (section 7 of the interface). */

import { type ServiceErrorCode, serviceErrorCode } from "eventstore-less";
import { redactKeys } from "../runtime/redact_keys.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";

const RETRY = "Try again after Retry-After";
const REPORT = "Report the X-Request-Id to the operator";

const TABLE = {
  malformed_body: entry(
    400,
    "The body is not one JSON object in UTF-8, or broke off",
    "Send well-formed JSON",
  ),
  invalid_body: entry(
    400,
    "The body lacks a required field, or has an invalid value or an unknown field",
    "Correct the fields that the message names",
  ),
  invalid_idempotency_key: entry(
    400,
    "The Idempotency-Key header is empty, too long or has a character that is not allowed",
    "Send 1 to 255 characters of visible ASCII, such as a UUID",
  ),
  invalid_parameter: entry(
    400,
    "A query parameter is unknown, repeated, invalid, not in UTF-8, or cannot be used with another one",
    "Correct the parameter that the message names",
  ),
  malformed_request: entry(
    400,
    "The Host or Content-Length header is missing, repeated or malformed, If-Match, the If-None-Match of a write or Last-Event-ID is malformed, or the address has a character that is not encoded",
    "Send one well-formed Host, at most one Content-Length, entity tags in If-Match and If-None-Match, the id of an event in Last-Event-ID, and addresses in ASCII",
  ),
  missing_credentials: entry(
    401,
    "The request has no API key",
    "Send the key as Authorization: Bearer <API_KEY>",
    "Bearer",
  ),
  invalid_credentials: entry(
    401,
    "The API key is mistyped, unknown, expired or revoked",
    "Use another key, or ask the operator for one",
    'Bearer error="invalid_token"',
  ),
  read_only_key: entry(
    403,
    "The API key may read animals, categories and webhooks, but not add, change, remove or restore any",
    "Use another key, or ask the operator for one that may write",
    'Bearer error="insufficient_scope"',
  ),
  pet_not_found: entry(
    404,
    "An animal with this identifier does not exist",
    "Use the identifier of an animal in a list",
  ),
  category_not_found: entry(
    404,
    "A category with this identifier has no name",
    "Use the identifier of a category in the list, or name the category",
  ),
  webhook_not_found: entry(
    404,
    "A webhook with this identifier does not exist",
    "Use the identifier of a webhook in the list",
  ),
  not_found: entry(404, "The path does not exist", "Use a path of the interface"),
  method_not_allowed: entry(
    405,
    "The path does not support the method",
    "Use a method that the Allow header names",
  ),
  request_timeout: entry(408, "The body did not arrive in time", "Send the request again"),
  pet_not_removed: entry(
    409,
    "The animal to restore is there",
    "Use the identifier of an animal in the list of removed animals",
  ),
  pet_erased: entry(
    409,
    "The operator has erased personal data of the removed animal, so it cannot be restored as it was",
    "Add an animal instead",
  ),
  idempotency_key_reused: entry(
    409,
    "The Idempotency-Key was sent with another request within the last 24 hours",
    "Send a new key for a new request, or repeat the request of the key",
  ),
  category_name_taken: entry(
    409,
    "Another category has this name, without regard to case",
    "Send another name, or use the category that the message names",
  ),
  too_many_categories: entry(
    409,
    "A category without a name was to get one, but 1,000 categories have names",
    "Remove the name of a category first",
  ),
  too_many_webhooks: entry(
    409,
    "A webhook was to be added, but there are 100",
    "Remove a webhook first",
  ),
  webhooks_off: entry(
    409,
    "The service has no key for the secrets of webhooks, so it calls no endpoint",
    "Ask the operator to turn webhooks on",
  ),
  webhook_stopped: entry(
    409,
    "After a restore, nobody knows which events the endpoint of the webhook has",
    "Send the lastEventId after which it continues, such as now",
  ),
  feed_reset: entry(
    410,
    "The log has no event with this id: it is another log, or was restored to an earlier state",
    "Read the animals again and follow from their X-Feed-Position, or read all events from the beginning",
  ),
  precondition_failed: entry(
    412,
    "The animal, category or webhook has changed since you read the ETag in If-Match, never had it, or is in a state that If-None-Match excludes; nothing was stored",
    "Read it again, and decide again with its new ETag",
  ),
  body_too_large: entry(413, "The body is larger than 64 KiB", "Send a smaller body"),
  unsupported_media_type: entry(
    415,
    "The body is not declared as application/json (or application/merge-patch+json, for a change), or is encoded",
    "Send Content-Type: application/json and no Content-Encoding",
  ),
  rate_limited: entry(
    429,
    "The API key sent more requests than the operator allows, or follows or searches too many times at once",
    `${RETRY}, and send fewer requests per second or at once, or end streams`,
  ),
  internal_error: entry(500, "The service failed unexpectedly", REPORT),
  projection_damaged: entry(
    500,
    "The stored projections do not match the log",
    `${REPORT}, who can rebuild the projections with a replay`,
  ),
  not_ready: entry(
    503,
    "The store does not respond, or is lost when the process ends",
    `${RETRY}, or repair the store`,
  ),
  outcome_unknown: entry(
    503,
    "The store did not confirm the request in time: the animal, category or webhook may or may not have been added, changed, removed or restored",
    `${RETRY} with the same Idempotency-Key; without a key, first check the animal, category or webhook`,
  ),
  overloaded: entry(
    503,
    "Too many requests wait for a commit, or too many clients follow or search; nothing was stored",
    RETRY,
  ),
  shutting_down: entry(503, "This instance is shutting down; nothing was stored", RETRY),
  storage_full: entry(
    503,
    "The disk of the store is full; nothing was stored",
    `${RETRY}; the operator must free space`,
  ),
  store_unavailable: entry(
    503,
    "The store does not respond or is damaged; nothing was stored",
    RETRY,
  ),
} satisfies Record<string, ErrorEntry> & Record<ServiceErrorCode, ErrorEntry>;

type ErrorEntry = ReturnType<typeof entry>;

/** `challenge` is `WWW-Authenticate` (RFC 6750 section 3). */
function entry(status: number, when: string, remedy: string, challenge?: string) {
  return { status, when, remedy, challenge };
}

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Record<ErrorCode, ErrorEntry> = TABLE;

/** A refusal. Its message says what to do, and repeats only names and integer ids: a request may hold a secret. */
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

export function codeOf(thrown: unknown): ErrorCode {
  if (thrown instanceof HttpError) return thrown.code;
  return serviceErrorCode(thrown) as ErrorCode | undefined ?? "internal_error";
}

export function errorResponse(thrown: unknown): HttpResponse {
  const code = codeOf(thrown);
  const { status, challenge } = ERRORS[code];
  const message = code === "internal_error" ? ERRORS[code].when : (thrown as Error).message;
  const headers: HttpResponse["headers"] = { ...NEVER_STORED };
  if (thrown instanceof HttpError) Object.assign(headers, thrown.headers);
  if (challenge !== undefined) headers["www-authenticate"] = challenge;
  if (status === 429 || status === 503) headers["retry-after"] = String(RETRY_AFTER_SECONDS);
  return { status, headers, body: JSON.stringify({ code, message, status }), code };
}

const NAME_REPEATED_LENGTH = 50;

/** Quotes and truncates a name that a client sent, for use in a message. Redaction does not recognise part of a key. */
export function quoted(name: string): string {
  const redacted = redactKeys(name);
  const end = redacted.length <= NAME_REPEATED_LENGTH ? "" : "…";
  return JSON.stringify(redacted.slice(0, NAME_REPEATED_LENGTH) + end);
}
