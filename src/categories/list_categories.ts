import {
  andThen,
  type BackgroundWork,
  feedPositionOf,
  type HeadEntry,
} from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { arrayOf, content } from "../api/component.ts";
import { compressed } from "../api/compression.ts";
import { entityTagOfHash } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { FEED_POSITION, HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import type { CategoryReader } from "./category_reader.ts";
import { CATEGORIES_TAG, CATEGORY, EXAMPLE_CATEGORY } from "./described_categories.ts";
import { CATEGORIES_LIMIT } from "./write_category.ts";

export interface ListCategoriesDeps {
  background: BackgroundWork;
  categories: CategoryReader;
}

export const listCategories: Operation<ListCategoriesDeps> = {
  id: "listCategories",
  method: "GET",
  path: "/categories",
  tag: CATEGORIES_TAG,
  summary: "List categories",
  description:
    "Lists all categories that have a name, by their identifiers. The `categoryId` of an animal may be any integer: a " +
    "category without a name is not in this list, and may have animals.",
  parameters: [],
  responses: {
    200: {
      description: "All categories, from the smallest identifier to the largest",
      headers: [FEED_POSITION, ...HEADERS_OF_READS],
      content: content(arrayOf(CATEGORY, CATEGORIES_LIMIT), [EXAMPLE_CATEGORY]),
    },
  },
  errors: ERRORS_OF_ALL,
  kind: "read",
  respond,
};

function respond(
  { background, categories }: ListCategoriesDeps,
  { request }: ApiRequest,
  { head }: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (request.search !== "") parseQuery(request.search, {});
  return andThen(categories.asOf(head), (all) => {
    // The cached names may be as of a later head.
    const shown = all.head.position > head.position ? all.head : head;
    const headers = {
      ...READ_HEADERS,
      vary: "accept-encoding",
      etag: entityTagOfHash(all.hash),
      "x-feed-position": feedPositionOf(shown).id,
    };
    const response = { status: 200, body: all.text, headers };
    return compressed(response, request.headers, () => background.turn("pages"), all);
  });
}
