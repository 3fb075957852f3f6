import { HTTP_ERRORS } from "../errors.ts";

/** Headers that other services read a key from. */
const OTHER_HEADERS = ["X-API-Key", "Api-Key"];

/**
 * Returns the token of an `Authorization: Bearer` header (RFC 6750 section 2.1). Throws `missing_credentials`
 * if there is none.
 */
export function bearerToken(headers: Headers): string {
  const authorization = headers.get("authorization");
  // The scheme is case-insensitive (RFC 9110 section 11.1), but almost all clients write it like this.
  if (authorization?.startsWith("Bearer ")) return unwrapped(authorization.slice(7).trim());
  const match = /^bearer +(.*)$/i.exec(authorization ?? "");
  if (match === null) throw credentialsError(authorization ?? "", headers);
  return unwrapped(match[1].trim());
}

/** Returns the token. Throws `invalid_credentials` if it has a second scheme or quotes around it. */
function unwrapped(token: string): string {
  if (/^bearer\s/i.test(token)) throw HTTP_ERRORS.repeatedScheme();
  if (/^["']|["']$/.test(token)) throw HTTP_ERRORS.quotedKey();
  return token;
}

function credentialsError(authorization: string, headers: Headers) {
  if (authorization === "") {
    const other = OTHER_HEADERS.find((name) => headers.has(name));
    return other === undefined ? HTTP_ERRORS.missingKey() : HTTP_ERRORS.keyInOtherHeader(other);
  }
  if (/^bearer$/i.test(authorization)) return HTTP_ERRORS.schemeWithoutKey();
  return authorization.includes(" ") ? HTTP_ERRORS.otherScheme() : HTTP_ERRORS.keyWithoutScheme();
}
