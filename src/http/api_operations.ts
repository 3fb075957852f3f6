/** All operations of the interface: the one table for the routes, the handler and the description. */

import { PET_OPERATIONS, PET_ROUTES, type PetDeps } from "../animals/pet_operations.ts";
import type { ApiOperation, ApiRoute } from "../api/api_operation.ts";
import { type EventsDeps, prepareListEvents } from "./events.ts";
import { getKey } from "./get_key.ts";

export type ApiDeps = PetDeps & EventsDeps;

export type ApiOperationName = keyof typeof PET_OPERATIONS | "listEvents" | "getKey";

export const API_OPERATIONS: Record<ApiOperationName, ApiOperation<ApiDeps>> = {
  ...PET_OPERATIONS,
  listEvents: { kind: "wait", prepare: prepareListEvents },
  getKey: { kind: "read", respond: getKey },
};

export const API_ROUTES: ApiRoute<ApiOperationName>[] = [
  ...PET_ROUTES,
  { path: "/events", operations: { GET: "listEvents" } },
  { path: "/key", operations: { GET: "getKey" } },
];
