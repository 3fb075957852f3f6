import { HttpError } from "../errors.ts";
import type { DescribedParameter } from "../operation.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

/** Is `true` on a response that repeats the outcome of an earlier request with the same key. */
export const IDEMPOTENCY_REPLAYED_HEADER = "idempotency-replayed";

/** Maximum length of the field's value, in characters, with its quotes. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

/**
 * The field's value: a String of RFC 9651 section 3.3.3, as the draft requires, or the key without quotes, as
 * most clients send it. The form without quotes excludes the comma, because a comma joins repeated fields.
 */
export const IDEMPOTENCY_KEY_PATTERN = /^(?:"((?:[ !#-[\]-~]|\\["\\])+)"|([!#-+\--~]+))$/;

/** `Idempotency-Key` in the description. */
export const IDEMPOTENCY_KEY: DescribedParameter = {
  name: "Idempotency-Key",
  in: "header",
  description: "Makes a retry safe: a new UUID for each animal or change, reused for every retry",
  schema: {
    type: "string",
    pattern: IDEMPOTENCY_KEY_PATTERN.source,
    maxLength: IDEMPOTENCY_KEY_MAX_LENGTH,
    minLength: 1,
  },
};

/** Parses the header of draft-ietf-httpapi-idempotency-key-header-07, if present. Throws `invalid_idempotency_key`. */
export function parseIdempotencyKey(headers: RequestHeaders): string | undefined {
  const field = headers.get(IDEMPOTENCY_KEY_HEADER);
  if (field === null) return undefined;
  const isTooLong = field.length > IDEMPOTENCY_KEY_MAX_LENGTH;
  const match = isTooLong ? null : IDEMPOTENCY_KEY_PATTERN.exec(field);
  if (match === null) {
    const form = `1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters of visible ASCII, such as a UUID`;
    const message =
      `Header Idempotency-Key must be ${form}; in double quotes, also with spaces and commas`;
    throw new HttpError("invalid_idempotency_key", message);
  }
  const [, quoted, bare] = match;
  return bare ?? quoted.replace(/\\(.)/g, "$1");
}
