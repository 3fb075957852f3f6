/** The errors in the description of operations: groups of codes, and the body. */

import { z } from "zod";
import { schemaComponent } from "./component.ts";
import { type ErrorCode, ERRORS } from "./errors.ts";

/** The codes of every operation with an API key. */
export const ERRORS_OF_ALL: readonly ErrorCode[] = [
  "malformed_request",
  "invalid_parameter",
  "missing_credentials",
  "invalid_credentials",
  "rate_limited",
  "internal_error",
  "projection_damaged",
  "shutting_down",
  "store_unavailable",
];

/** The further codes of every operation of the kind `write`. */
export const ERRORS_OF_WRITES: readonly ErrorCode[] = [
  "malformed_body",
  "invalid_idempotency_key",
  "read_only_key",
  "request_timeout",
  "idempotency_key_reused",
  "body_too_large",
  "outcome_unknown",
  "overloaded",
  "storage_full",
];

/** The further codes of a write with a JSON body. */
export const ERRORS_OF_JSON_BODIES: readonly ErrorCode[] = [
  "invalid_body",
  "unsupported_media_type",
];

export const CODES = Object.keys(ERRORS) as ErrorCode[];

export const ERROR = schemaComponent(
  "Error",
  z.strictObject({
    code: z.enum(CODES)
      .describe("The kind of error, for programs: see the list of error codes"),
    message: z.string().describe("A description of the error for people, whose wording may change"),
    status: z.int().min(400).max(599)
      .meta({ description: "The HTTP status of the response", format: "int32" }),
  }),
);
