/**
 * The application of the engine in `src/eventstore_less/`, which imports this module as `eventstore-less/application`.
 * At run time, what this module imports may use only the door `definitions`: the compiler does not see a circle.
 */

import type { ApiKeyEventBody } from "../events/api_key.ts";
import type { CategoryEventBody } from "../events/category.ts";
import type { PetEventBody } from "../events/pet_event.ts";
import { PETS } from "./animals/pets.ts";
import { CATEGORIES } from "./categories/categories.ts";
import { API_KEYS } from "./keys/api_keys.ts";

export { NAME } from "./settings/version.ts";

export const COLLECTIONS = [PETS, API_KEYS, CATEGORIES];

/** The type and data of an event of any collection. */
export type EventBody = PetEventBody | ApiKeyEventBody | CategoryEventBody;

/** The reasons of the application to refuse a command, besides those of the engine. */
export type RefusalCode =
  | "category_name_taken"
  | "category_not_found"
  | "idempotency_key_reused"
  | "invalid_credentials"
  | "pet_not_found"
  | "precondition_failed"
  | "read_only_key"
  | "too_many_categories";
