import { parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseQuery } from "../api/requests/query.ts";
import { parseConditions } from "../api/requests/write_conditions.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";
import { petIdOf } from "./pet_id.ts";

/** The pet to change or to remove, with the conditions of the request. Throws if one of them is not valid. */
export function parseTarget({ headers, path, search }: ServiceRequest) {
  if (search !== "") parseQuery(search, {});
  const petId = petIdOf(path);
  const idempotencyKey = parseIdempotencyKey(headers);
  const conditions = parseConditions(headers);
  return { petId, idempotencyKey, ...conditions };
}
