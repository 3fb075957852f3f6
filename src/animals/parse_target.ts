import { parseQuery } from "../api/requests/query.ts";
import { parseConditions } from "../api/written.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";
import { petIdOf } from "./pet_id.ts";

/** The pet to change or to remove, with the conditions of the request. Throws if one of them is not valid. */
export function parseTarget({ headers, path, search }: ServiceRequest) {
  if (search !== "") parseQuery(search, {});
  return { petId: petIdOf(path), ...parseConditions(headers) };
}
