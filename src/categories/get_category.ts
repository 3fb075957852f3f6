import { andThen, type HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import type { CategoryReader } from "./category_reader.ts";
import { CATEGORIES_TAG, CATEGORY, CATEGORY_ID, EXAMPLE_CATEGORY } from "./described_categories.ts";
import { categoryIdOf } from "./parse_target.ts";
import { categoryNotFoundError } from "./write_category.ts";

export interface GetCategoryDeps {
  categories: CategoryReader;
}

export const getCategory: Operation<GetCategoryDeps> = {
  id: "getCategory",
  method: "GET",
  path: "/categories/{categoryId}",
  tag: CATEGORIES_TAG,
  summary: "Get a category",
  description: "Returns a category that has a name. Its `ETag` is for use in `If-Match`.",
  parameters: [CATEGORY_ID],
  responses: {
    200: {
      description: "The category",
      headers: HEADERS_OF_READS,
      content: content(CATEGORY, EXAMPLE_CATEGORY),
    },
  },
  errors: [...ERRORS_OF_ALL, "category_not_found"],
  kind: "read",
  respond,
};

function respond(
  { categories }: GetCategoryDeps,
  { request: { path, search } }: ApiRequest,
  { head }: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (search !== "") parseQuery(search, {});
  const id = categoryIdOf(path);
  return andThen(categories.asOf(head), ({ byId }) => {
    const category = byId.get(id);
    if (category === undefined) throw categoryNotFoundError();
    const headers = { ...READ_HEADERS, etag: entityTag(category.text) };
    return { status: 200, body: category.text, headers };
  });
}
