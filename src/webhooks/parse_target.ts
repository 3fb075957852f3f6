import { parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseQuery } from "../api/requests/query.ts";
import { parseConditions } from "../api/requests/write_conditions.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";

const PATH = /\/webhooks\/([^/]*)/;

/** The id after "/webhooks/" in a path. Without a webhook of this id, it is not found. */
export function webhookIdOf(path: string): string {
  const [, id] = PATH.exec(path)!;
  return id;
}

/** The webhook to write, with the conditions of the request. Throws if one of them is not valid. */
export function parseTarget({ headers, path, search }: ServiceRequest) {
  if (search !== "") parseQuery(search, {});
  const webhookId = webhookIdOf(path);
  const idempotencyKey = parseIdempotencyKey(headers);
  const conditions = parseConditions(headers);
  return { webhookId, idempotencyKey, ...conditions };
}
