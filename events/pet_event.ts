/**
 * The events of animals. The data of each one has the whole animal, because its records, the caches and its history depend
 * on nothing but its last event. An event that changes an animal also has the former values of what changed.
 */

import type { z } from "zod";
import { FormerValues, patchPet, Pet } from "./pet.ts";

/** The pet after a change, and the former values that lead back to the pet before it. */
export const PetChange = Pet.extend({
  previous: FormerValues.refine((it) => Object.keys(it).length > 0, "must name what changed")
    .meta({ minProperties: 1 }),
});
export type PetChange = z.infer<typeof PetChange>;

/** The data of each type. A type can have members of its own: `PetChange.extend({ … })`. */
export const PET_EVENT_DATA = {
  PetCreated: Pet,
  PetUpdated: PetChange,
  PetRemoved: Pet,
  PetRestored: Pet,
};

type DataOfTypes = typeof PET_EVENT_DATA;

export type PetEventBody = {
  [Type in keyof DataOfTypes]: { type: Type; data: z.infer<DataOfTypes[Type]> };
}[keyof DataOfTypes];

export const PET_EVENT_TYPES = Object.keys(PET_EVENT_DATA) as PetEventBody["type"][];

/** The pet before an event of it; `undefined` if the event added or restored the pet. */
export function petBefore({ type, data }: PetEventBody): Pet | undefined {
  switch (type) {
    case "PetCreated":
    case "PetRestored":
      return undefined;
    case "PetRemoved":
      return petIn(data);
    default:
      return patchPet(petIn(data), data.previous);
  }
}

/** The pet after an event of it; `undefined` if the event removed the pet. */
export function petAfter({ type, data }: PetEventBody): Pet | undefined {
  return type === "PetRemoved" ? undefined : petIn(data);
}

const MEMBERS = Object.keys(Pet.shape) as (keyof Pet)[];

/** The pet without the other members of an event. */
function petIn(data: Pet): Pet {
  const members = MEMBERS.filter((name) => data[name] !== undefined);
  return Object.fromEntries(members.map((name) => [name, data[name]])) as Pet;
}
