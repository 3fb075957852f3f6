/** Reads animals by their ids. */

import type { Pet } from "../../../events/pet.ts";
import { IDS_MAX } from "../data/animals.ts";
import { request } from "../data/api.ts";

/** Resolves to the animals that exist, by their ids. */
export async function readPets(
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Map<number, Pet>> {
  const pets = new Map<number, Pet>();
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const some = ids.slice(start, start + IDS_MAX);
    const { body } = await request<Pet[]>(`pets?ids=${some.join()}`, { signal });
    for (const pet of body) pets.set(pet.id, pet);
  }
  return pets;
}
