/** The operation `getKey`: what the owner of an API key may know of it, which is neither its token nor the hash of that. */

import type { HeadEntry } from "eventstore-less/parts";
import { z } from "zod";
import { LABEL_MAX_LENGTH } from "../../events/api_key.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { content, schemaComponent } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { EXAMPLE_ULID, KEY_ID_SCHEMA, TIME_SCHEMA } from "../api/described_event.ts";
import { HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";

const KEY = schemaComponent(
  "ApiKey",
  z.strictObject({
    id: KEY_ID_SCHEMA.describe("The identifier of the key, not the key"),
    label: z.string().min(1).max(LABEL_MAX_LENGTH)
      .describe("The name that the operator gave to the key"),
    readOnly: z.boolean().describe("Whether the key may only read"),
    expiresAt: TIME_SCHEMA.optional()
      .describe("When the key ends, as far as that is known; absent if it does not end"),
  }),
);

const EXAMPLE_KEY = {
  id: EXAMPLE_ULID,
  label: "shop",
  readOnly: false,
  expiresAt: "2027-01-02T03:04:05.678Z",
};

export const getKey: Operation<unknown> = {
  id: "getKey",
  method: "GET",
  path: "/key",
  tag: { name: "Key", description: "The API key that asks" },
  summary: "Get the API key that asks",
  description: "Returns what is known of the API key of the request, but not the key itself.",
  parameters: [],
  responses: {
    200: {
      description: "The API key",
      headers: HEADERS_OF_READS,
      content: content(KEY, EXAMPLE_KEY),
    },
  },
  errors: ERRORS_OF_ALL,
  kind: "read",
  respond,
};

function respond(
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
