/** The events of animals: their types and their data. */

import type { z } from "zod";
import { assertNever } from "../src/encoding/assert_never.ts";
import { Pet, PetPatch } from "./pet.ts";

/** The pet after a change, and the patch that leads back to the pet before it. */
export const PetUpdatedData = Pet.extend({
  previous: PetPatch.refine((patch) => Object.keys(patch).length > 0, "must name what changed"),
});
export type PetUpdatedData = z.infer<typeof PetUpdatedData>;

export type PetEventBody =
  | { type: "PetCreated"; data: Pet }
  | { type: "PetUpdated"; data: PetUpdatedData }
  | { type: "PetRemoved"; data: Pet };

export const PET_EVENT_TYPES = ["PetCreated", "PetUpdated", "PetRemoved"] as const;

/** The pet after an event of it; `undefined` if the event removed the pet. */
export function petAfter(event: PetEventBody): Pet | undefined {
  switch (event.type) {
    case "PetCreated":
      return event.data;
    case "PetUpdated": {
      const { previous: _, ...pet } = event.data;
      return pet;
    }
    case "PetRemoved":
      return undefined;
    default:
      return assertNever(event);
  }
}
