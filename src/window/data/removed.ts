/** The removed animals as far as they are loaded, last removed first, and who removed them. */

import { signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import { request } from "./api.ts";
import { rememberCategories } from "./categories.ts";
import type { StoreEvent } from "./events.ts";
import { Query, readNow } from "./queries.ts";

const PAGE_LENGTH = 100;
const FIRST_PAGE = `pets?removed=true&limit=${PAGE_LENGTH}`;

/** An animal as it was before its removal. */
export interface RemovedPet extends Pet {
  removedAt: string;
}

interface RemovedPets {
  pets: readonly RemovedPet[];
  /** The path of the next page; `undefined` if there is none. */
  nextPage: string | undefined;
}

/** `undefined` until they are read. */
export const removedPets = signal<RemovedPets | undefined>(undefined);

/** Reads the removed animals again, at least as many as are loaded. */
export const removedQuery = new Query(async () => {
  const least = removedPets.value?.pets.length ?? 0;
  removedPets.value = await readFrom(FIRST_PAGE, [], least);
});

export async function loadMoreRemoved(): Promise<void> {
  const { pets, nextPage } = removedPets.value!;
  removedPets.value = await readFrom(nextPage!, pets, 0);
}

async function readFrom(
  path: string,
  before: readonly RemovedPet[],
  least: number,
): Promise<RemovedPets> {
  const pets = [...before];
  let nextPage: string | undefined = path;
  do {
    const read: { body: RemovedPet[]; nextPage: string | undefined } = await readNow(nextPage);
    pets.push(...read.body);
    nextPage = read.nextPage;
  } while (nextPage !== undefined && pets.length < least);
  rememberCategories(pets.map(({ categoryId }) => categoryId));
  return { pets, nextPage };
}

/** Forgets everything, because the service has another log. */
export function forgetRemoved(): void {
  removedPets.value = undefined;
  removals.value = new Map();
}

/** The last events in the histories of removed animals, which say who removed them, by {@linkcode nameOf}. */
const removals = signal<ReadonlyMap<string, StoreEvent>>(new Map());

/** Another removal of the same animal has another name. */
function nameOf({ id, removedAt }: RemovedPet): string {
  return `${id} ${removedAt}`;
}

/** The event that removed an animal; `undefined` until its history was read. */
export function removalEventOf(pet: RemovedPet): StoreEvent | undefined {
  return removals.value.get(nameOf(pet));
}

/** Reads in the history of an animal who removed it. */
export async function loadRemoval(pet: RemovedPet): Promise<void> {
  if (removalEventOf(pet) !== undefined) return;
  const { body: [last] } = await request<StoreEvent[]>(`pets/${pet.id}/events?limit=1`);
  if (last?.type !== "PetRemoved") return;
  removals.value = new Map([...removals.value, [nameOf(pet), last]]);
}
