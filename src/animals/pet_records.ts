/** The records of pets, as the store has them. */

import type { Head, ProjectionKey, ServiceError } from "eventstore-less";
import { contentOf, damagedError, projectionKey } from "eventstore-less/parts";
import type { StoreEntry } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import type { Pet } from "../../events/pet.ts";
import { positionIn, textIn } from "./pet_content.ts";
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
  const content = contentOf(APPLICATION, entry);
  const id = entry.key.at(-1) as number;
  const text = decoder.decode(textIn(content));
  if (!text.startsWith(`{"id":${id},`)) {
    throw damagedError(APPLICATION, entry.key, "has another pet");
  }
  return { id, text, position: positionIn(content) };
}

/** The keys of a pet in each list, and of its removal. At each moment, exactly one of them has a record. */
export function keysOfPet(id: number): ProjectionKey[] {
  return [...PET_LISTS.map((list) => petKey(list, id)), removedPetKey(id)];
}

/**
 * The pet in the records under {@linkcode keysOfPet}, which were read with that head; `undefined` if it was removed.
 * Throws `projection_damaged` unless there is exactly one record.
 */
export function onlyPetOf(
  id: number,
  found: readonly (StoreEntry | null)[],
  head: Head,
): PetRecord | undefined {
  const [entry, other] = found.filter((it) => it !== null);
  if (entry === undefined) throw damagedPetError(id, head, "is missing");
  if (other !== undefined) {
    throw damagedError(APPLICATION, other.key, "is there, although another one is");
  }
  if (entry !== found.at(-1)) return petOf(entry);
  // The content of the record of a removal is not needed, but a damaged record proves nothing.
  contentOf(APPLICATION, entry);
  return undefined;
}

/** The error about a pet that is not in the list in which it should be. */
export function damagedPetError(id: number, { generation }: Head, fault: string): ServiceError {
  return damagedError(APPLICATION, projectionKey(generation, petKey("", id)), fault);
}
