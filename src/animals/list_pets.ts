import { INT64_MAX } from "eventstore-less/int64";
import type { BackgroundWork, HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { arrayOf, content } from "../api/component.ts";
import { entityTag, entityTagOfHash } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import {
  FEED_POSITION,
  HEADERS_OF_READS,
  linkPattern,
  sometimes,
} from "../api/described_headers.ts";
import type { HttpResponse } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { LIMIT_DEFAULT, LIMIT_MAX } from "../api/requests/page_limit.ts";
import { integerSchema, queryParameters } from "../api/requests/query.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { EXAMPLE_PET, PET, PETS_TAG } from "./described_pets.ts";
import { isSearch, type Page, type PageQuery, totalOf } from "./page.ts";
import { PAGE_PARAMETERS, parsePageQuery } from "./page_query.ts";
import { headersOfPage, pageResponse } from "./page_response.ts";
import type { PetReader } from "./pet_reader.ts";
import { MEASURED_AS, SCAN_LIMIT, SCAN_MS } from "./pet_search.ts";

export interface ListPetsDeps {
  background: BackgroundWork;
  pets: PetReader;
}

const LINK = sometimes(
  "Link.next",
  "The address of the next page (RFC 8288); absent on the last page",
  linkPattern("/pets\\?[^<>]+"),
  `<${EXAMPLE_BASE}/pets?limit=20&cursor=81>; rel="next"`,
);

const TOTAL_COUNT = sometimes(
  "X-Total-Count",
  "How many animals match the filter, or are removed; absent if a category, or a search by `name` or `q`, has several pages",
  integerSchema("int64", "0", String(INT64_MAX)),
  1,
);

export const listPets: Operation<ListPetsDeps> = {
  id: "listPets",
  method: "GET",
  path: "/pets",
  tag: PETS_TAG,
  summary: "List animals",
  description:
    "Lists the animals of the store, newest first, one page at a time. With `name` or `q`, a page " +
    `is the result of a search through at most ${SCAN_LIMIT.toLocaleString("en")} animals, for ` +
    `at most ${SCAN_MS / 1_000} seconds: it may have fewer animals than \`limit\`, or none, ` +
    "although its `Link` header names a next page.",
  parameters: queryParameters(PAGE_PARAMETERS),
  responses: {
    200: {
      description: "A page of animals; the `Link` header names the next page, if there is one",
      headers: [LINK, TOTAL_COUNT, FEED_POSITION, ...HEADERS_OF_READS],
      content: content(arrayOf(PET, LIMIT_MAX), [EXAMPLE_PET]),
    },
  },
  errors: [...ERRORS_OF_ALL, "overloaded"],
  sample: { query: `?status=available&limit=${LIMIT_DEFAULT}` },
  kind: "read",
  respond,
};

function respond(
  deps: ListPetsDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
): HttpResponse | Promise<HttpResponse> {
  const { background, pets } = deps;
  const query = parsePageQuery(exchange.request.search);
  if (isSearch(query)) exchange.measuredAs = MEASURED_AS;
  const listed = pets.list(query, entry, apiKey.id);
  if (!(listed instanceof Promise)) return showPage(listed, query, deps, exchange, entry);
  // A slow page is work that has turns, so the thread is not kept free for it.
  if (pets.isSlow(query)) background.requestLeft(exchange);
  return listed.then((page) => showPage(page, query, deps, exchange, entry));
}

function showPage(
  page: Page,
  query: PageQuery,
  deps: ListPetsDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  return pageResponse(page, deps, exchange, entry, (head) => {
    const headers = { ...headersOfPage(page, "/pets", query, head, exchange.baseUrl) };
    headers.etag = tagOfPage(page, query);
    const total = totalOf(query, page, head);
    if (total !== undefined) headers["x-total-count"] = String(total);
    return headers;
  });
}

/** The text of a page without animals. */
const NO_PETS = "[]";

/** The page of one id has the tag of its animal, so a client can send it as `If-Match`. */
function tagOfPage({ text, hash }: Page, { ids }: PageQuery): string {
  const isOnePet = ids?.length === 1 && text !== NO_PETS;
  return isOnePet ? entityTag(text.slice(1, -1)) : entityTagOfHash(hash);
}
