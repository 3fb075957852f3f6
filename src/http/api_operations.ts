/** All operations of the interface, for the routes and the description, in whose order they are. */

import { PET_OPERATIONS, type PetDeps } from "../animals/pet_operations.ts";
import type { Operation } from "../api/operation.ts";
import { type EventsDeps, listEvents } from "./events.ts";
import { getKey } from "./get_key.ts";

export type ApiDeps = PetDeps & EventsDeps;

export type ApiOperation = Operation<ApiDeps>;

export const API_OPERATIONS: readonly ApiOperation[] = [...PET_OPERATIONS, listEvents, getKey];
