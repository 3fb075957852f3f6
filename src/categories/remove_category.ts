import type { ApiRequest } from "../api/api_request.ts";
import { ERRORS_OF_ALL, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_REMOVALS } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { removedResponse } from "../api/written_response.ts";
import { CATEGORIES_TAG, CATEGORY_ID } from "./described_categories.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_category.ts";

export interface RemoveCategoryDeps extends commands.WriteCategoryDeps {
  bodies: BodyReader;
}

export const removeCategory: Operation<RemoveCategoryDeps> = {
  id: "removeCategory",
  method: "DELETE",
  path: "/categories/{categoryId}",
  tag: CATEGORIES_TAG,
  summary: "Remove a category",
  description:
    "Removes a category from the list, with its name. Its animals keep their `categoryId`. It may be named again.",
  parameters: [CATEGORY_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  responses: {
    204: {
      description:
        "The category was removed, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_REMOVALS,
    },
  },
  errors: [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES, "category_not_found", "precondition_failed"],
  kind: "write",
  prepare,
};

async function prepare(deps: RemoveCategoryDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  await deps.bodies.read(request);
  return async () => removedResponse(await commands.removeCategory(deps, { ...target, token }));
}
