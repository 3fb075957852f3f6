import { Component } from "../component.ts";
import { HttpError } from "../errors.ts";
import { entityTag, withoutCoding } from "../conditional_read.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

/**
 * `*`, or entity tags with commas between them (RFC 9110 sections 5.6.1.2, 8.8.3 and 13.1.1). The parts of the pattern
 * exclude each other at each character, so a long field takes linear time.
 */
export const IF_MATCH_PATTERN =
  /^(?:\*|[\t ,]*(?:(?:W\/)?"[!#-~\x80-\xff]*"[\t ]*(?:,[\t ,]*|$))+)$/;

/** `If-Match` in the description. */
export const IF_MATCH = new Component("parameters", "IfMatch", {
  name: "If-Match",
  in: "header",
  description:
    "The `ETag` of the animal (also with `ids=1`) or category that you have read, or several; `*` allows any state. If it has none " +
    "of them, the status is 412. Unlike in RFC 9110 (13.1.1), an `ETag` also matches as a proxy that compresses left it: with " +
    "`W/` before it, or with a coding at its end (`-gzip`). This is safe, because it is a hash of the content",
  schema: { type: "string", pattern: IF_MATCH_PATTERN.source },
});

/**
 * Parses `If-Match`, if there is one, into the test of a tag. The comparison is weak, unlike that of RFC 9110 (13.1.1):
 * a proxy that compresses makes a tag weak, and equal tags always name equal contents. Throws `malformed_request`.
 */
export function parseIfMatch(
  headers: RequestHeaders,
): ((entityTag: string) => boolean) | undefined {
  const field = headers.get("if-match");
  if (field === null) return undefined;
  if (!IF_MATCH_PATTERN.test(field)) {
    const message =
      'Header If-Match must be the ETag of an animal or a category, such as "1f2e", or *';
    throw new HttpError("malformed_request", message);
  }
  if (field === "*") return () => true;
  const tags = new Set(field.match(/"[^"]*"/g)?.map(withoutCoding));
  return (entityTag) => tags.has(entityTag);
}

/**
 * Parses `If-Match`, if there is one, into the test of the JSON text of a resource: whether the client expects it. Throws
 * `malformed_request`.
 */
export function parseExpected(headers: RequestHeaders): ((text: string) => boolean) | undefined {
  const matches = parseIfMatch(headers);
  if (matches === undefined) return undefined;
  return (text) => matches(entityTag(text));
}
