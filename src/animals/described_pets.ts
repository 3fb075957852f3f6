/** The schemas, examples and tag that the described operations of animals share. */

import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import { z } from "zod";
import { PET_EVENT_DATA, PET_EVENT_TYPES } from "../../events/pet_event.ts";
import { NewPet, Pet, PET_STATUSES, PetPatch, PetStatus } from "../../events/pet.ts";
import { schemaComponent } from "../api/component.ts";
import { ENTITY_TAG_PATTERN } from "../api/conditional_read.ts";
import { eventSchema, exampleEvent, TIME_SCHEMA } from "../api/described_event.ts";
import type { Tag } from "../api/operation.ts";
import { integerSchema } from "../api/requests/query.ts";
import { NO_STATUS, petSubject, type StatusFilter } from "./pet_keys.ts";

export const PETS_TAG: Tag = { name: "Pets", description: "The animals offered in the store" };

export const PET_STATUS = schemaComponent("PetStatus", PetStatus);

/** The statuses by which a list can be filtered. */
export const STATUS_FILTERS: readonly StatusFilter[] = [...PET_STATUSES, NO_STATUS];

export const STATUS_FILTER = schemaComponent(
  "StatusFilter",
  z.enum(STATUS_FILTERS).meta({
    description: "The availability of the animals in a list; `none` if they have no status",
    // Without names of its own, Go generators would rename those of PetStatus.
    "x-enumNames": STATUS_FILTERS.map((it) => `StatusFilter${it[0].toUpperCase()}${it.slice(1)}`),
  }),
);

/** A pet in responses. Only a list of removed pets has the last two members. */
export const SHOWN_PET = Pet.extend({
  removedAt: TIME_SCHEMA.optional()
    .describe("When the animal was removed; only in a list of removed animals"),
  etag: z.string().regex(ENTITY_TAG_PATTERN).max(34).optional()
    .describe("The `ETag` to restore the animal with; only in a list of removed animals"),
});

export const PET = schemaComponent("Pet", SHOWN_PET);

/** NewPet under another name: Go generators name the constructor of Pet `NewPet`. */
export const PET_INPUT = schemaComponent(
  "PetInput",
  NewPet.meta({ title: "NewPet", description: "The body of a request to add an animal" }),
);

export const PET_PATCH = schemaComponent(
  "PetPatch",
  PetPatch.meta({
    title: "PetPatch",
    description: "The fields to change, with their new values; `null` removes a field",
    minProperties: 1,
  }),
);

/** The members of the data of any event. Each event has those of an animal. */
const EVENT_DATA = z.strictObject({
  ...Object.assign({}, ...Object.values(PET_EVENT_DATA).map((data) => data.partial().shape)),
  ...Pet.shape,
});

export const PET_EVENT = schemaComponent(
  "PetEvent",
  eventSchema({
    types: PET_EVENT_TYPES,
    subject: { pattern: /^pets\/[1-9]\d*$/, maxLength: 21 },
    data: EVENT_DATA.describe(
      "The animal as it is after the event, or was before a `PetRemoved`, and in `previous` of a change the " +
        "former values of what changed (`null` for an absent one)",
    ),
    resource: "animal",
    description:
      "A CloudEvent 1.0 (https://cloudevents.io): an animal was added, changed, removed or restored",
  }),
);

export const EXAMPLE_NEW_PET = { name: "Rex", categoryId: 7, status: "available" };
export const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };
export const EXAMPLE_PET_EVENT = exampleEvent(
  "PetCreated",
  petSubject(EXAMPLE_PET.id),
  EXAMPLE_PET,
);

/** The parameter `{petId}` of a path. */
export const PET_ID = {
  name: "petId",
  in: "path",
  required: true,
  description: "The identifier of the animal",
  schema: integerSchema("int64", String(INT64_MIN), String(INT64_MAX)),
  example: EXAMPLE_PET.id,
} as const;
