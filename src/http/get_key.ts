/** The operation `getKey`: what the owner of an API key may know of it, which is neither its token nor the hash of that. */

import type { HeadEntry } from "eventstore-less/log/head.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { entityTag } from "../api/conditional_read.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import { parseQuery } from "../api/requests/query.ts";

export function getKey(
  _deps: unknown,
  { request: { search } }: ApiRequest,
  _entry: HeadEntry,
  apiKey: ApiKey,
): HttpResponse {
  if (search !== "") parseQuery(search, {});
  const body = encodeApiKey(apiKey);
  return { status: 200, body, headers: { ...READ_HEADERS, etag: entityTag(body) } };
}

function encodeApiKey({ id, label, isReadOnly, expiresAt, revokedAt }: ApiKey): string {
  // A key whose successor was issued ends earlier than it was issued for.
  const end = Math.min(expiresAt ?? Infinity, revokedAt ?? Infinity);
  const expiry = end === Infinity ? {} : { expiresAt: new Date(end).toISOString() };
  return JSON.stringify({ id, label, readOnly: isReadOnly === true, ...expiry });
}
