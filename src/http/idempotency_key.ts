import { HttpError } from "./errors.ts";

export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

/** Says `true` on an answer that an earlier request with the same key was given already. */
export const IDEMPOTENCY_REPLAYED_HEADER = "idempotency-replayed";

/** Longest Idempotency-Key, in characters, without its quotes. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

/**
 * The field's value: a String of RFC 9651 section 3.3.3, as the draft says, or the key alone without
 * quotes, as most clients send it. The bare form knows no comma, which would join two fields into one.
 */
export const IDEMPOTENCY_KEY_PATTERN =
  /^(?:"((?:[ !#-[\]-~]|\\["\\]){1,255})"|([!#-+\--~]{1,255}))$/;

/**
 * The key of an `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header-07), or `undefined`
 * where there is none. Quoted and bare, a key is the same key. Refuses with `invalid_idempotency_key`.
 */
export function parseIdempotencyKey(field: string | null): string | undefined {
  if (field === null) return undefined;
  const parts = IDEMPOTENCY_KEY_PATTERN.exec(field);
  if (parts === null) {
    throw new HttpError(
      "invalid_idempotency_key",
      `Header Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters of visible ASCII, ` +
        "or such characters and spaces in double quotes",
    );
  }
  const [, quoted, bare] = parts;
  return bare ?? quoted.replace(/\\(.)/g, "$1");
}
