/** The records of single pets. Each id up to the last pet id is in exactly one list, or has the record of its removal. */

import type { Head } from "eventstore-less/definitions.ts";
import { contentOf, damagedError } from "eventstore-less/projections/project.ts";
import { projectionKey } from "eventstore-less/keyspace.ts";
import {
  GET_MANY_LIMIT,
  type Key,
  type Store,
  type StoreEntry,
} from "eventstore-less/store/store.ts";
import type { Pet } from "../../events/pet.ts";
import { positionIn, textIn } from "./pet_content.ts";
import { changePositionOf } from "./pet_counts.ts";
import { PET_LISTS, petKey, removedPetKey } from "./pet_keys.ts";

const decoder = new TextDecoder();

export interface PetRecord {
  id: number;
  text: string;
  /** Position of the last event that added or changed the pet. */
  position: number;
  /** The pet, if the line of that event has proven the record. */
  proven?: Pet;
  /** The entity tag of the text, once it was needed. */
  cachedTag?: string;
}

/** Decodes a record of a pet. Throws `projection_damaged`. */
export function petOf(entry: StoreEntry): PetRecord {
  const content = contentOf(entry);
  const id = entry.key.at(-1) as number;
  const text = decoder.decode(textIn(content));
  if (!text.startsWith(`{"id":${id},`)) throw damagedError(entry.key, "has another pet");
  return { id, text, position: positionIn(content) };
}

/** The position of the event that removed a pet, of the record of its removal. Throws `projection_damaged`. */
export function removalPositionOf(entry: StoreEntry): number {
  const text = decoder.decode(contentOf(entry));
  const position = Number(text);
  const id = entry.key.at(-1) as number;
  // Each pet has an event of its own before, so its removal has a larger position than its id.
  const isPosition = Number.isSafeInteger(position) && String(position) === text && position > id;
  if (!isPosition) throw damagedError(entry.key, "names no position of a removal");
  return position;
}

/** The pet with an id; `undefined` if it is in none of the lists. Rejects with `projection_damaged`. */
export async function readPet(
  store: Store,
  head: Head,
  id: number,
): Promise<PetRecord | undefined> {
  // All are read at one moment, so one of the lists has the pet, unless it was removed.
  return onlyPetOf(await store.getMany(listKeysOf(head, id)));
}

/** The pet with an id, as readPet(). Rejects with `projection_damaged` if it is in a list although it was removed. */
export async function readUnremovedPet(
  store: Store,
  head: Head,
  id: number,
): Promise<PetRecord | undefined> {
  const removedKey = removedPetKeyOf(head, id);
  // All are read at one moment, so exactly one of them is there.
  const [removal, ...inLists] = await store.getMany([removedKey, ...listKeysOf(head, id)]);
  const pet = onlyPetOf(inLists);
  if (pet === undefined || removal === null) return pet;
  throw damagedError(removedKey, "is in a list, although the pet was removed");
}

/** The entries of any number of keys, which are not read at one moment. */
export async function getAll(store: Store, keys: readonly Key[]): Promise<(StoreEntry | null)[]> {
  const reads: Promise<(StoreEntry | null)[]>[] = [];
  for (let start = 0; start < keys.length; start += GET_MANY_LIMIT) {
    reads.push(store.getMany(keys.slice(start, start + GET_MANY_LIMIT)));
  }
  return (await Promise.all(reads)).flat();
}

/** The positions of the removals of pets; `undefined` for a pet without such a record. */
export async function readRemovals(
  store: Store,
  head: Head,
  ids: readonly number[],
): Promise<(number | undefined)[]> {
  const entries = await getAll(store, ids.map((id) => removedPetKeyOf(head, id)));
  return entries.map((entry) => entry === null ? undefined : removalPositionOf(entry));
}

/**
 * Throws `projection_damaged` unless the record of a removal was there, and names a position of the log at a head that
 * was read after it.
 */
export function expectRemoval(id: number, position: number | undefined, head: Head): void {
  const key = removedPetKeyOf(head, id);
  if (position === undefined) throw damagedError(key, "is missing");
  if (position > changePositionOf(head)) throw damagedError(key, "names no position of a removal");
}

export function petKeyOf({ generation }: Head, list: string, id: number): Key {
  return projectionKey(generation, petKey(list, id));
}

function listKeysOf(head: Head, id: number): Key[] {
  return PET_LISTS.map((list) => petKeyOf(head, list, id));
}

function removedPetKeyOf({ generation }: Head, id: number): Key {
  return projectionKey(generation, removedPetKey(id));
}

/** The pet that at most one of the lists has. Throws `projection_damaged`. */
function onlyPetOf(inLists: readonly (StoreEntry | null)[]): PetRecord | undefined {
  const [entry, other] = inLists.filter((it) => it !== null);
  if (other !== undefined) throw damagedError(other.key, "is there twice");
  return entry && petOf(entry);
}
