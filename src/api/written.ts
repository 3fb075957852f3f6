/** What writes have in common: the conditions of a request, and its response. */

import type { RequestHeaders } from "../runtime/service_request.ts";
import { entityTag } from "./conditional_read.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { IDEMPOTENCY_REPLAYED_HEADER, parseIdempotencyKey } from "./requests/idempotency_key.ts";
import { parseIfMatch } from "./requests/if_match.ts";

export interface WriteConditions {
  idempotencyKey?: string;
  /** Whether the resource with that JSON text is one that the client expects; absent if any is. */
  isExpected?: (text: string) => boolean;
}

/** Throws `invalid_idempotency_key` or `malformed_request`. */
export function parseConditions(headers: RequestHeaders): WriteConditions {
  const idempotencyKey = parseIdempotencyKey(headers);
  const matches = parseIfMatch(headers);
  if (matches === undefined) return { idempotencyKey };
  return { idempotencyKey, isExpected: (text) => matches(entityTag(text)) };
}

/** The response with the JSON text of what was written, by this request or by an earlier one with the same key. */
export function writtenResponse(
  status: 200 | 201,
  { text, isDuplicate }: { text: string; isDuplicate: boolean },
  more: HttpResponse["headers"] = {},
): HttpResponse {
  const headers = { ...writtenHeaders(isDuplicate), etag: entityTag(text), ...more };
  return { status, body: text, headers };
}

/** The response to a removal. */
export function removedResponse({ isDuplicate }: { isDuplicate: boolean }): HttpResponse {
  return { status: 204, body: null, headers: writtenHeaders(isDuplicate) };
}

function writtenHeaders(isDuplicate: boolean): HttpResponse["headers"] {
  return isDuplicate ? { ...NEVER_STORED, [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : NEVER_STORED;
}
