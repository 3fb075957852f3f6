import { HttpError } from "../errors.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

const USE_BEARER = "Authorization: Bearer <API_KEY>";

/** Headers that other services read a key from. */
const OTHER_HEADERS = ["X-API-Key", "Api-Key"];

/** The token of `Authorization: Bearer` (RFC 6750). Throws `missing_` or `invalid_credentials`. */
export function bearerToken(headers: RequestHeaders): string {
  const authorization = headers.get("authorization") ?? "";
  // The scheme is case-insensitive (RFC 9110 section 11.1).
  const match = /^bearer +(.*)$/i.exec(authorization);
  if (match === null) {
    const fault = whyMissing(authorization, headers);
    throw new HttpError("missing_credentials", `${fault} ${USE_BEARER}`);
  }
  const token = match[1].trim();
  if (/^bearer\s|^["']|["']$/i.test(token)) {
    const message = `The API key has quotes or "Bearer" around it: send only ${USE_BEARER}`;
    throw new HttpError("invalid_credentials", message);
  }
  return token;
}

function whyMissing(authorization: string, headers: RequestHeaders): string {
  if (authorization !== "") return "The Authorization header is not Bearer with an API key: send";
  const other = OTHER_HEADERS.find((name) => headers.get(name) !== null);
  if (other !== undefined) return `The API key is not read from ${other}: send it as`;
  return "An API key is required:";
}
