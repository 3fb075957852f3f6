/** The tables of all error codes and of all messages (section 7 of the interface). */

import { STATUS_CODE } from "@std/http/status";
import { type ServiceErrorCode, serviceErrorCode } from "../service_error.ts";
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
  idempotency_key_reused: {
    status: STATUS_CODE.Conflict,
    when: "The Idempotency-Key was sent with another animal within the last 24 hours",
    remedy: "Send a new key for a new animal, or the animal that the key was first sent with",
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
  storage_full: {
    status: STATUS_CODE.ServiceUnavailable,
    when: "The disk of the store is full; nothing was stored",
    remedy: "Try again after Retry-After; the operator must free space",
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

const USE_BEARER = "Authorization: Bearer <API_KEY>";

/** Ends the connection, because the rest of the body is not read. */
const CLOSE = { connection: "close" };

/**
 * Every error of the HTTP layer, with its message. A message says what to do. Because a request may hold a
 * secret, a message repeats at most names of fields and parameters, and an integer id.
 */
export const HTTP_ERRORS = {
  ...errorsOf("malformed_request", {
    missingHost: () => "The Host header is missing",
    malformedHost: () => "The Host header must be one host name with or without a port",
    malformedContentLength: () => "Content-Length must be one whole number",
  }),

  ...errorsOf("missing_credentials", {
    missingKey: () => `An API key is required: ${USE_BEARER}`,
    keyInOtherHeader: (name: string) =>
      `The API key is not read from ${name}: send it as ${USE_BEARER}`,
    keyWithoutScheme: () =>
      `The Authorization header has a key without "Bearer" before it: send ${USE_BEARER}`,
    otherScheme: () => `The scheme of the Authorization header is not Bearer: send ${USE_BEARER}`,
    schemeWithoutKey: () =>
      `The Authorization header has no API key after "Bearer": send ${USE_BEARER}`,
  }),
  ...errorsOf("invalid_credentials", {
    repeatedScheme: () => `The Authorization header has "Bearer" twice: send ${USE_BEARER}`,
    quotedKey: () => `The API key is in quotes: send ${USE_BEARER} without quotes`,
  }),
  ...errorsOf("rate_limited", {
    rateLimited: (perSecond: number) => `The rate limit of an API key is ${perSecond} per second`,
  }),

  ...errorsOf("not_found", {
    unknownPath: (paths: string) => `${ERRORS.not_found.when}: use ${paths}`,
  }),
  methodNotAllowed: (allow: string) =>
    new HttpError("method_not_allowed", `The path supports only ${allow}`, { allow }),
  petNotFound: (headers: Record<string, string>) =>
    new HttpError("pet_not_found", ERRORS.pet_not_found.when, headers),
  petIdNotInteger: (headers: Record<string, string>) =>
    new HttpError(
      "pet_not_found",
      "The identifier of an animal is an integer without leading zeros, such as 42",
      headers,
    ),

  ...errorsOf("invalid_parameter", {
    unknownParameter: (name: string, known: readonly string[]) =>
      `Query parameter ${quoted(name)} is not known: ` +
      (known.length === 0 ? "this operation takes none" : `use ${known.join(", ")}`),
    repeatedParameter: (name: string) => `Query parameter ${quoted(name)} is repeated`,
    invalidParameter: (name: string, rule: string) => `Query parameter ${quoted(name)} ${rule}`,
  }),
  ...errorsOf("invalid_idempotency_key", {
    invalidIdempotencyKey: (maxLength: number) =>
      `Header Idempotency-Key must be 1 to ${maxLength} characters of visible ASCII, ` +
      "or such characters and spaces in double quotes",
    repeatedIdempotencyKey: () =>
      "Header Idempotency-Key is repeated, or has a comma outside of double quotes",
  }),

  ...errorsOf("unsupported_media_type", {
    missingContentType: () =>
      "The Content-Type header is missing: send one JSON object as application/json",
    otherContentType: () => "The Content-Type must be application/json, in UTF-8",
  }),
  ...errorsOf("unsupported_media_type", {
    encodedBody: () => "The body must not be encoded",
  }, { "accept-encoding": "identity" }),
  ...errorsOf("body_too_large", {
    bodyTooLarge: (limitBytes: number) => `The body is larger than ${limitBytes} bytes`,
  }, CLOSE),
  ...errorsOf("request_timeout", {
    bodyTimeout: (limitMs: number) => `The body did not arrive within ${limitMs} ms`,
  }, CLOSE),
  ...errorsOf("shutting_down", { shuttingDown: () => "The service is shutting down" }, CLOSE),
  ...errorsOf("malformed_body", { brokenOffBody: () => "The body broke off" }, CLOSE),
  ...errorsOf("malformed_body", {
    emptyBody: () => "The body is empty: send one JSON object",
    notUtf8: (byte: number) => `The body is not valid UTF-8 at byte ${byte}`,
    notJson: (fault: string) => `The body is not valid JSON${fault}`,
    tooDeep: () => "The body is nested too deep",
    notObject: (type: string) => `The body must be one JSON object, not ${type}`,
  }),
  ...errorsOf("invalid_body", { invalidBody: (faults: string) => faults }),

  ...errorsOf("not_ready", {
    memoryStore: () => "The store is in memory and is lost when the process ends",
    storeNotReady: (reason: string) => reason,
  }),
};

/** A function for each message, which creates the error of that code. */
function errorsOf<Messages extends Record<string, (...values: never[]) => string>>(
  code: ErrorCode,
  messages: Messages,
  headers?: Record<string, string>,
) {
  const factories = Object.entries(messages).map(([name, message]) => [
    name,
    (...values: never[]) => new HttpError(code, message(...values), headers),
  ]);
  return Object.fromEntries(factories) as {
    [Name in keyof Messages]: (...values: Parameters<Messages[Name]>) => HttpError;
  };
}

/** Value of `Retry-After` on a 429 or a 503, in seconds. */
export const RETRY_AFTER_SECONDS = 1;

/** `WWW-Authenticate` of a 401 or a 403 (RFC 6750 section 3). */
export const CHALLENGES = {
  missing_credentials: "Bearer",
  invalid_credentials: 'Bearer error="invalid_token"',
  read_only_key: 'Bearer error="insufficient_scope"',
} as const;

/** The code of an error. Unknown errors are `internal_error`. */
export function codeOf(thrown: unknown): ErrorCode {
  return thrown instanceof HttpError ? thrown.code : serviceErrorCode(thrown) ?? "internal_error";
}

/**
 * The response to a request that failed with `thrown`. `root` is the path of the service at its public
 * address, without a slash at the end.
 */
export function errorResponse(thrown: unknown, root = ""): HttpResponse {
  const code = codeOf(thrown);
  const { status } = ERRORS[code];
  let message = code === "internal_error" ? ERRORS[code].when : (thrown as Error).message;
  if (status === STATUS_CODE.Unauthorized) {
    const keyless = `${root}/docs, ${root}/openapi.json, ${root}/healthz and ${root}/readyz`;
    message += `; ${keyless} need no key`;
  }
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
