/** Conditional reads (RFC 9110 section 13): a client that has the response gets 304 without a body. */

import { sha256Hex } from "eventstore-less/parts";
import { ifNoneMatch } from "@std/http/etag";
import type { ServiceRequest } from "../runtime/service_request.ts";
import { Component } from "./component.ts";
import type { HttpResponse } from "./http_response.ts";

const TAG_DIGITS = 32;

export const ENTITY_TAG_PATTERN = new RegExp(`^"[0-9a-f]{8,${TAG_DIGITS}}(-gzip)?"$`);

/** The strong entity tag of a content. It is the same on every instance and after every restart. */
export function entityTag(content: string | Uint8Array): string {
  return entityTagOfHash(sha256Hex(content));
}

/** The strong entity tag of a content with that SHA-256 (hex). */
export function entityTagOfHash(hash: string): string {
  return `"${hash.slice(0, TAG_DIGITS)}"`;
}

/** The entity tag of the same content in gzip. */
export function gzipTagOf(etag: string): string {
  return etag.replace(/"$/, '-gzip"');
}

/** Entity tags without the codings at their ends, which the service or a proxy that compresses has added. */
export function withoutCoding(entityTags: string): string {
  return entityTags.replace(/-[a-z]+"/g, '"');
}

/** `If-None-Match` in the description. */
export const IF_NONE_MATCH = new Component("parameters", "IfNoneMatch", {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of a cached response. If it is still current, the status is 304",
  schema: { type: "string" },
});

/** Turns a read into 304 if `If-None-Match` names its `etag`, in any coding; the comparison is weak (13.1.2). */
export function applyIfNoneMatch(
  response: HttpResponse,
  { method, headers }: Pick<ServiceRequest, "method" | "headers">,
): HttpResponse {
  const { etag } = response.headers;
  // The responses to writes have tags, too.
  const isRead = method === "GET" || method === "HEAD";
  if (etag === undefined || !isRead) return response;
  // The library splits a long run of spaces in quadratic time.
  const tags = headers.get("if-none-match")?.replace(/\s+/g, " ");
  if (tags === undefined) return response;
  const isNew = ifNoneMatch(withoutCoding(tags), withoutCoding(etag));
  return isNew ? response : { ...response, status: 304, body: null };
}
