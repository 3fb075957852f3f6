/** Reads that cost next to nothing where the client holds the answer already (RFC 9110 section 13). */

import { ifNoneMatch } from "@std/http/etag";
import { sha256Hex } from "../sha256.ts";
import type { HttpResponse } from "./http_response.ts";

const TAG_DIGITS = 32;

export const ENTITY_TAG_PATTERN = new RegExp(`^"[0-9a-f]{${TAG_DIGITS}}"$`);

/** The strong entity tag of a content: the same on every instance and after every restart. */
export function entityTag(content: string | Uint8Array): string {
  return `"${sha256Hex(content).slice(0, TAG_DIGITS)}"`;
}

/**
 * 304 in place of an answer whose `etag` the client's `If-None-Match` names, with the headers that the
 * answer would have had. The comparison is weak, as section 13.1.2 asks.
 */
export function applyIfNoneMatch(answer: HttpResponse, requestHeaders: Headers): HttpResponse {
  const { etag } = answer.headers;
  if (etag === undefined) return answer;
  const field = requestHeaders.get("if-none-match");
  if (field === null) return answer;
  return ifNoneMatch(field, etag) ? answer : { ...answer, status: 304, body: null };
}
