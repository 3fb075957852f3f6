/** Reads pages of a category: the index says where the pets are, and their records are read together with the head. */

import { type Head, ServiceError } from "eventstore-less";
import type { HeadReader } from "eventstore-less/parts";
import type { StoreEntry } from "eventstore-less/store";
import { categoryIdIn } from "../../events/pet.ts";
import { endedAt, idsOf, type PageQuery, type PetsOfHead } from "./page.ts";
import type { PetIndexReader } from "./pet_index_reader.ts";
import { petKey } from "./pet_keys.ts";
import { damagedPetError, petOf, type PetRecord } from "./pet_records.ts";

/** A page is not read again after this time in milliseconds. */
export const READ_LIMIT_MS = 1_000;

export interface CategoryDeps {
  heads: Pick<HeadReader, "readWith">;
  index: Pick<PetIndexReader, "asOf">;
  monotonicNow: () => number;
}

/**
 * Reads a page as of the given head or a later one. Rejects with `projection_damaged`, and with `store_unavailable` if,
 * during each read, pets came into the category, left it or got another status.
 */
export async function readCategory(
  { heads, index: reader, monotonicNow }: CategoryDeps,
  query: PageQuery & { categoryId: bigint },
  head: Head,
): Promise<PetsOfHead> {
  const { categoryId, limit, order, status } = query;
  const deadline = monotonicNow() + READ_LIMIT_MS;
  let asOf = head;
  do {
    const index = await reader.asOf(asOf);
    const { position } = index;
    // The index may already be as of a later head, with pets that were added since.
    const ids = idsOf(query, Infinity);
    const locations = index.find({ ...ids, categoryId, status, order, limit: limit + 1 });
    const read = await heads.readWith(locations.map(({ id, list }) => petKey(list, id)));
    asOf = read.head;
    const newest = await reader.asOf(asOf);
    // An index that was filled meanwhile does not know what changed before.
    const isUnchanged = newest === index && index.changedAt(categoryId) <= position;
    if (isUnchanged) {
      const pets = locations.map(({ id }, at) => petIn(categoryId, read.entries[at], id, asOf));
      return endedAt(limit, pets, asOf);
    }
  } while (monotonicNow() <= deadline);
  const message = "The category was changed during each read of the page";
  throw new ServiceError("store_unavailable", message);
}

/** The pet with an id in the record that was read of it. Throws `projection_damaged`. */
function petIn(categoryId: bigint, entry: StoreEntry | null, id: number, head: Head): PetRecord {
  const pet = entry === null ? undefined : petOf(entry);
  if (pet !== undefined && categoryIdIn(pet.text) === String(categoryId)) return pet;
  throw damagedPetError(id, head, "is missing, or has another category");
}
