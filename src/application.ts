/** The application of the service: its events and their records. */

import { defineApplication } from "eventstore-less";
import { PETS } from "./animals/pets.ts";
import { CATEGORIES } from "./categories/categories.ts";
import { API_KEYS } from "./keys/api_keys.ts";
import { NAME } from "./settings/version.ts";
import { WEBHOOKS } from "./webhooks/webhooks.ts";

export const APPLICATION = defineApplication({
  name: NAME,
  collections: [PETS, API_KEYS, CATEGORIES, WEBHOOKS],
});
