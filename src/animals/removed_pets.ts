/** Reads pages of the removed pets: the index has the positions of their removals, and the log has the rest. */

import { type Head, ServiceError } from "eventstore-less";
import { readProof } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { encodePet, type Pet } from "../../events/pet.ts";
import { entityTag } from "../api/conditional_read.ts";
import { APPLICATION } from "../application.ts";
import { commandName } from "../runtime/words.ts";
import { type CategoryDeps, READ_LIMIT_MS } from "./category_reader.ts";
import { endedAt, type PageQuery, type PetsOfHead } from "./page.ts";
import type { PetRecord } from "./pet_records.ts";

export interface RemovedPetsDeps extends CategoryDeps {
  store: Store;
}

/**
 * Reads a page as of the given head or a later one. Rejects with `projection_damaged`, and with `store_unavailable` if
 * pets were removed or restored during each read.
 */
export async function readRemovedPets(
  { heads, index: reader, monotonicNow, store }: RemovedPetsDeps,
  { cursor = Infinity, limit }: PageQuery,
  head: Head,
): Promise<PetsOfHead> {
  const deadline = monotonicNow() + READ_LIMIT_MS;
  let asOf = head;
  do {
    const { removals } = await reader.asOf(asOf);
    if (removals.changedAt <= asOf.position) {
      const positions = removals.before(cursor, limit + 1);
      // The lines of the log do not change, so they need not be read at the same moment.
      const pets = await Promise.all(positions.map((position) => readRemoved(store, position)));
      const ended = endedAt(limit, pets, asOf);
      return ended.next === undefined ? ended : { ...ended, next: ended.pets.at(-1)!.position };
    }
    asOf = (await heads.readWith([])).head;
  } while (monotonicNow() <= deadline);
  const message = "Animals were removed or restored during each read of the page";
  throw new ServiceError("store_unavailable", message);
}

/** The pet that was removed at a position, as the list shows it. */
async function readRemoved(store: Store, position: number): Promise<PetRecord> {
  const { event } = await readProof(APPLICATION, store, position);
  if (event.type !== "PetRemoved") {
    const message = `The event at position ${position} is not a removal, but a record says so`;
    throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
  }
  return { id: event.data.id, text: encodeRemoved(event.data, event.time), position };
}

/** The JSON text of a removed pet in a list. */
function encodeRemoved(pet: Pet, removedAt: string): string {
  const text = encodePet(pet);
  const more = JSON.stringify({ removedAt, etag: entityTag(text) });
  return `${text.slice(0, -1)},${more.slice(1)}`;
}
