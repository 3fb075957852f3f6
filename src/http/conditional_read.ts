/**
 * Conditional reads (RFC 9110 section 13): a client that already has the response gets 304 without a body.
 */

import { ifNoneMatch } from "@std/http/etag";
import { sha256Hex } from "../encoding/sha256.ts";
import type { HttpResponse } from "./http_response.ts";

const TAG_DIGITS = 32;

export const ENTITY_TAG_PATTERN = new RegExp(`^"[0-9a-f]{${TAG_DIGITS}}"$`);

/** The strong entity tag of a content. It is the same on every instance and after every restart. */
export function entityTag(content: string | Uint8Array): string {
  return `"${sha256Hex(content).slice(0, TAG_DIGITS)}"`;
}

/**
 * Turns a response into 304 if the client's `If-None-Match` names its `etag`, and keeps its headers. The
 * comparison is weak, as section 13.1.2 requires.
 */
export function applyIfNoneMatch(answer: HttpResponse, requestHeaders: Headers): HttpResponse {
  const { etag } = answer.headers;
  if (etag === undefined) return answer;
  const field = requestHeaders.get("if-none-match");
  if (field === null) return answer;
  return ifNoneMatch(field, etag) ? answer : { ...answer, status: 304, body: null };
}
