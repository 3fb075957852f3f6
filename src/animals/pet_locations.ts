/**
 * The locations of pets: the category of each pet, and the list that has its record. A page of a category finds its pets
 * by them.
 */

import type { Column } from "eventstore-less/projections/column.ts";
import type { PetEventBody } from "../../events/pet_event.ts";
import { PET_LISTS, petListOf, type StatusFilter } from "./pet_keys.ts";

/** A pet of a category, and the list that has its record. */
export interface PetLocation {
  id: number;
  list: string;
}

/** The text of a pet in the column after an event; `undefined` after its removal. */
export function locationAfter({ type, data }: PetEventBody): string | undefined {
  if (type === "PetRemoved") return undefined;
  return locationText(data.categoryId, petListOf(data.status));
}

function locationText(categoryId: bigint, list: string): string {
  return `${categoryId}/${list}`;
}

/** The newest pets of a category from an id down, of one status if it is given. */
export function findLocations(
  column: Column,
  { categoryId, status }: { categoryId: bigint; status?: StatusFilter },
  range: { newest: number; limit: number },
): PetLocation[] {
  const lists = status === undefined ? PET_LISTS : [petListOf(status)];
  const listOfText = new Map(lists.map((list) => [locationText(categoryId, list), list]));
  const ids = column.find([...listOfText.keys()], range);
  return ids.map((id) => {
    const text = column.textOf(id)!;
    return { id, list: listOfText.get(text)! };
  });
}
