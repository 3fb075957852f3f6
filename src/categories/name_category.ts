import { NewCategory } from "../../events/category.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { addressPattern, always, HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import { parseBody } from "../api/requests/parse_body.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { writtenResponse } from "../api/written_response.ts";
import {
  CATEGORIES_TAG,
  CATEGORY,
  CATEGORY_ID,
  CATEGORY_INPUT,
  EXAMPLE_CATEGORY,
  EXAMPLE_NEW_CATEGORY,
} from "./described_categories.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_category.ts";

export interface NameCategoryDeps extends commands.WriteCategoryDeps {
  bodies: BodyReader;
}

const LOCATION = always(
  "Location.category",
  "The address of the category",
  addressPattern("/categories/(0|-?[1-9][0-9]*)"),
  `${EXAMPLE_BASE}/categories/${EXAMPLE_CATEGORY.id}`,
);

export const nameCategory: Operation<NameCategoryDeps> = {
  id: "nameCategory",
  method: "PUT",
  path: "/categories/{categoryId}",
  tag: CATEGORIES_TAG,
  summary: "Name a category",
  description:
    "Gives a category a name, or another one. No animal changes, and the category needs none. Two categories have " +
    "different names, without regard to case and to characters that nobody sees: the service compares the NFKC form " +
    "of names in upper case, without the `Default_Ignorable_Code_Point` of Unicode. At most " +
    `${
      commands.CATEGORIES_LIMIT.toLocaleString("en")
    } categories have names. If the category has this very name, nothing ` +
    "changes, and the `Idempotency-Key` is not remembered.",
  parameters: [CATEGORY_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  body: {
    description: "The name, which is not made of blanks alone",
    schema: CATEGORY_INPUT,
    example: EXAMPLE_NEW_CATEGORY,
  },
  responses: {
    200: {
      description: "The category had a name: this one, or another one that was replaced",
      headers: HEADERS_OF_WRITTEN,
      content: content(CATEGORY, EXAMPLE_CATEGORY),
    },
    201: {
      description: "The category had no name, and now has this one",
      headers: [LOCATION, ...HEADERS_OF_WRITTEN],
      content: content(CATEGORY, EXAMPLE_CATEGORY),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "category_not_found",
    "category_name_taken",
    "too_many_categories",
    "precondition_failed",
  ],
  kind: "write",
  prepare,
};

async function prepare(deps: NameCategoryDeps, { request, baseUrl }: ApiRequest, token: string) {
  const target = parseTarget(request);
  const body = await deps.bodies.readJson(request);
  const { name } = parseBody(body, NewCategory, NewCategory);
  return async () => {
    const named = await commands.nameCategory(deps, { ...target, name, token });
    if (!named.isNew) return writtenResponse(200, named);
    return writtenResponse(201, named, { location: `${baseUrl}/categories/${target.id}` });
  };
}
