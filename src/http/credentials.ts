import { HttpError } from "./errors.ts";

/**
 * Returns the token of an `Authorization: Bearer` header (RFC 6750 section 2.1). Throws `missing_credentials`
 * if there is no header or its scheme is another one.
 */
export function bearerToken(authorization: string | null): string {
  // The scheme is case-insensitive (RFC 9110 section 11.1), but almost all clients write it like this.
  if (authorization?.startsWith("Bearer ")) return authorization.slice(7).trim();
  const match = /^bearer +(.*)$/i.exec(authorization ?? "");
  if (match === null) {
    throw new HttpError(
      "missing_credentials",
      "An API key is required: Authorization: Bearer <API_KEY>",
    );
  }
  return match[1].trim();
}
