/** The numbers of pets in the head, which counts the events of each type and the pets of each list. */

import type { Counts, Head } from "eventstore-less";
import type { EventType, RecordedEvent } from "../../events/all_events.ts";
import { PET_EVENT_TYPES } from "../../events/pet_event.ts";
import { PETS_COLLECTION } from "./pet_keys.ts";

/** Id of the newest pet; 0 without pets. Each addition has the next id. */
export function lastPetIdOf({ types }: Pick<Head, "types">): number {
  return types.PetCreated?.count ?? 0;
}

const CHANGES = PET_EVENT_TYPES.filter((type) => type !== "PetCreated");

/** Position of the last change, removal or restore of a pet; 0 without one. */
export function changePositionOf({ types }: Pick<Head, "types">): number {
  let position = 0;
  for (const type of CHANGES) position = Math.max(position, types[type]?.last ?? 0);
  return position;
}

/** The numbers of pets in the lists that have any. */
export function petCountsOf({ counts }: Pick<Head, "counts">): Counts {
  return counts[PETS_COLLECTION] ?? {};
}

/** Number of pets in a list. */
export function countOf(head: Pick<Head, "counts">, list: string): number {
  return petCountsOf(head)[list] ?? 0;
}

/** Number of pets. Ids have gaps if it is smaller than the id of the newest pet. */
export function petCount(head: Pick<Head, "counts">): number {
  return petsIn(petCountsOf(head));
}

/** Number of pets in all lists. */
export function petsIn(lists: Counts): number {
  let sum = 0;
  for (const list in lists) sum += lists[list];
  return sum;
}

/** Number of removed pets. */
export function removedCount(head: Pick<Head, "types" | "counts">): number {
  return lastPetIdOf(head) - petCount(head);
}

/** Whether pets are removed, so that ids are missing. */
export function hasGaps(head: Pick<Head, "types" | "counts">): boolean {
  return removedCount(head) > 0;
}

/** Whether most pets are removed, so that most ids are missing. */
export function isSparse(head: Pick<Head, "types" | "counts">): boolean {
  return 2 * petCount(head) < lastPetIdOf(head);
}

/** The fault in the numbers of a head; `undefined` if there is none. A wrong number could give the id of a pet again. */
export function faultOfPetCounts(
  head: Head,
  lastEvents: ReadonlyMap<EventType, RecordedEvent>,
): string | undefined {
  const newest = lastEvents.get("PetCreated");
  const newestPetId = newest?.type === "PetCreated" ? newest.data.id : 0;
  const additions = lastPetIdOf(head);
  if (newestPetId !== additions) {
    return `it counts ${additions} additions, but the newest pet has the id ${newestPetId}`;
  }
  const { PetRemoved, PetRestored } = head.types;
  const left = additions - (PetRemoved?.count ?? 0) + (PetRestored?.count ?? 0);
  if (petCount(head) !== left) return `its lists have ${petCount(head)} pets instead of ${left}`;
}
