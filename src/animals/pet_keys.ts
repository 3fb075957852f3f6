/** The keys of the records of pets, without their generation. */

import { PET_STATUSES, type PetStatus } from "../../events/pet.ts";

export const PETS_COLLECTION = "pets";

/** The subject of the events of a pet. */
export function petSubject(id: number): string {
  return `${PETS_COLLECTION}/${id}`;
}

/** The list of the pets without a status, and what clients call it. */
export const NO_STATUS = "none" as const;

/** The status by which clients choose a list. */
export type StatusFilter = PetStatus | typeof NO_STATUS;

/** The lists that hold the pets: one for each status, and one for the pets without a status. */
export const PET_LISTS: StatusFilter[] = [...PET_STATUSES, NO_STATUS].sort();

export function petListOf(status: StatusFilter | null | undefined): string {
  return status ?? NO_STATUS;
}

/** The kinds of the records of pets, and of those that removed pets leave. */
export const PET_KIND = "pet";
export const REMOVED_PET_KIND = "removed_pet";

export function petKey(list: string, ...id: number[]) {
  return [PET_KIND, list, ...id];
}

/** The key of the record that a removed pet leaves until it is restored. */
export function removedPetKey(id: number) {
  return [REMOVED_PET_KIND, id];
}
