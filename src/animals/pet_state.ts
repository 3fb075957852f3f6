import type { Pet } from "../../events/pet.ts";
import { petAfter } from "../../events/pet_event.ts";
import type { PetEvent } from "./pet_event.ts";

/** A pet after its last event, or as it was before its removal. */
export interface PetState {
  pet: Pet;
  /** Position of the last event. */
  position: number;
  isRemoved: boolean;
}

/** The state in which an event leaves its pet. */
export function stateAfter(event: PetEvent): PetState {
  const { data, position } = event;
  const pet = petAfter(event);
  return { pet: pet ?? data, position, isRemoved: pet === undefined };
}
