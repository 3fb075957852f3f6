/** The operations of animals (section 4 of the interface), in the order of the description. */

import type { Operation } from "../api/operation.ts";
import { batchPets, type BatchPetsDeps } from "./batch_pets.ts";
import { createPet } from "./create_pet.ts";
import { getPet } from "./get_pet.ts";
import { listPetEvents, type ListPetEventsDeps } from "./list_pet_events.ts";
import { listPets, type ListPetsDeps } from "./list_pets.ts";
import { removePet } from "./remove_pet.ts";
import { restorePet } from "./restore_pet.ts";
import { summarizePets } from "./summarize_pets.ts";
import { updatePet } from "./update_pet.ts";

export type PetDeps = ListPetsDeps & BatchPetsDeps & ListPetEventsDeps;

export const PET_OPERATIONS: readonly Operation<PetDeps>[] = [
  listPets,
  createPet,
  summarizePets,
  getPet,
  updatePet,
  removePet,
  restorePet,
  batchPets,
  listPetEvents,
];
