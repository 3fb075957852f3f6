/** All operations of the interface, for the routes and the description, in whose order they are. */

import { PET_OPERATIONS, type PetDeps } from "../animals/pet_operations.ts";
import { CATEGORY_OPERATIONS, type CategoryDeps } from "../categories/category_operations.ts";
import type { Operation } from "../api/operation.ts";
import { type EventsDeps, listEvents } from "./events.ts";
import { getKey } from "./get_key.ts";
import { WEBHOOK_OPERATIONS, type WebhookDeps } from "../webhooks/webhook_operations.ts";

export type ApiDeps = PetDeps & CategoryDeps & EventsDeps & WebhookDeps;

export type ApiOperation = Operation<ApiDeps>;

export const API_OPERATIONS: readonly ApiOperation[] = [
  ...PET_OPERATIONS,
  ...CATEGORY_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  listEvents,
  getKey,
];
