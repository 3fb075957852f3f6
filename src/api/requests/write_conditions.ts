/** The conditions of writes: `If-Match` and `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2). */

import type { Expectations } from "../../keys/write_with_key.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";
import { Component } from "../component.ts";
import { entityTag, withoutCoding } from "../conditional_read.ts";
import { HttpError } from "../errors.ts";

/**
 * `*`, or entity tags with commas between them (RFC 9110 sections 5.6.1.2, 8.8.3 and 13.1.1). The parts of the pattern
 * exclude each other at each character, so a long field takes linear time.
 */
export const ENTITY_TAGS_PATTERN =
  /^(?:\*|[\t ,]*(?:(?:W\/)?"[!#-~\x80-\xff]*"[\t ]*(?:,[\t ,]*|$))+)$/;

/** `If-Match` in the description. */
export const IF_MATCH = new Component("parameters", "IfMatch", {
  name: "If-Match",
  in: "header",
  description:
    "The `ETag` of the animal (also with `ids=1`), category or webhook that you have read, or several; `*` allows any state. If it has none " +
    "of them, the status is 412. Unlike in RFC 9110 (13.1.1), an `ETag` also matches as a proxy that compresses left it: with " +
    "`W/` before it, or with a coding at its end (`-gzip`). This is safe, because it is a hash of the content",
  schema: { type: "string", pattern: ENTITY_TAGS_PATTERN.source },
});

/** `If-None-Match` of a write in the description. */
export const IF_NONE_MATCH_OF_WRITE = new Component("parameters", "IfNoneMatchOfWrite", {
  name: "If-None-Match",
  in: "header",
  description:
    "With `*`, the status is 412 if the animal exists, or if the category has a name: so a name that somebody else gives at the " +
    "same time is not replaced. With the `ETag` of one or several states, it is 412 if the animal, category or webhook is in one of them",
  schema: { type: "string", pattern: ENTITY_TAGS_PATTERN.source },
});

/** Parses the conditions of a write. Throws `malformed_request`. */
export function parseConditions(headers: RequestHeaders): Expectations {
  return {
    isExpected: parseField(headers, "If-Match"),
    isExcluded: parseField(headers, "If-None-Match"),
  };
}

/** The test of the JSON text of a resource: whether the field has its tag. */
function parseField(
  headers: RequestHeaders,
  name: "If-Match" | "If-None-Match",
): ((text: string) => boolean) | undefined {
  const field = headers.get(name);
  if (field === null) return undefined;
  const hasTag = parseEntityTags(field, name);
  return (text) => hasTag(entityTag(text));
}

/**
 * Parses a field into the test of a tag. The comparison is weak, also of `If-Match`, unlike that of RFC 9110 (13.1.1):
 * a proxy that compresses makes a tag weak, and equal tags always name equal contents. Throws `malformed_request`.
 */
export function parseEntityTags(field: string, name: string): (entityTag: string) => boolean {
  if (!ENTITY_TAGS_PATTERN.test(field)) {
    const message =
      `Header ${name} must be the ETag of an animal or a category, such as "1f2e", or *`;
    throw new HttpError("malformed_request", message);
  }
  if (field === "*") return () => true;
  const tags = new Set(field.match(/"[^"]*"/g)?.map(withoutCoding));
  return (entityTag) => tags.has(entityTag);
}
