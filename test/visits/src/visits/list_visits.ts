import { contentOf, type HeadEntry, projectionKey } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { arrayOf, content } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import { EXAMPLE_VISIT, VISIT, VISITS_TAG } from "./described_visits.ts";
import { visitKey } from "./visits.ts";

const LIMIT = 100;

export interface ListVisitsDeps {
  store: Store;
}

export const listVisits: Operation<ListVisitsDeps> = {
  id: "listVisits",
  method: "GET",
  path: "/visits",
  tag: VISITS_TAG,
  summary: "List visits",
  description: `Lists the last ${LIMIT} visits, newest first.`,
  parameters: [],
  responses: {
    200: {
      description: "The visits",
      headers: HEADERS_OF_READS,
      content: content(arrayOf(VISIT, LIMIT), [EXAMPLE_VISIT]),
    },
  },
  errors: ERRORS_OF_ALL,
  kind: "read",
  respond,
};

async function respond(
  { store }: ListVisitsDeps,
  { request }: ApiRequest,
  { head: { generation } }: HeadEntry,
): Promise<HttpResponse> {
  if (request.search !== "") parseQuery(request.search, {});
  const all = {
    start: projectionKey(generation, visitKey(1)),
    end: projectionKey(generation, visitKey(Infinity)),
  };
  const visits = await store.list(all, { limit: LIMIT, reverse: true });
  const texts = visits.map((entry) => new TextDecoder().decode(contentOf(APPLICATION, entry)));
  const body = `[${texts.join(",")}]`;
  return { status: 200, body, headers: { ...READ_HEADERS, etag: entityTag(body) } };
}
