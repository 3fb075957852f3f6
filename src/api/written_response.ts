/** The responses to writes. */

import { entityTag } from "./conditional_read.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { IDEMPOTENCY_REPLAYED_HEADER } from "./requests/idempotency_key.ts";

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
