import { HttpError } from "../api/errors.ts";
import { parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseQuery } from "../api/requests/query.ts";
import { parseConditions } from "../api/requests/write_conditions.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";
import { parseCategoryId } from "./category_id.ts";

const PATH = /\/categories\/([^/]*)/;

/** The id after "/categories/" in a path. Throws `category_not_found` if it is not that of a category. */
export function categoryIdOf(path: string): bigint {
  const [, text] = PATH.exec(path)!;
  const id = parseCategoryId(text);
  if (id !== undefined) return id;
  const message = "The identifier of a category is an int64 without leading zeros, such as 7";
  throw new HttpError("category_not_found", message);
}

/** The category to name or to remove, with the conditions of the request. Throws if one of them is not valid. */
export function parseTarget({ headers, path, search }: ServiceRequest) {
  if (search !== "") parseQuery(search, {});
  const id = categoryIdOf(path);
  const idempotencyKey = parseIdempotencyKey(headers);
  const conditions = parseConditions(headers);
  return { id, idempotencyKey, ...conditions };
}
