/** The places of pets, by which a page of a category finds them: the category and the list of each pet. */

import type { Column } from "eventstore-less/projections/column.ts";
import type { PetEventBody } from "../../events/pet_event.ts";
import { PET_LISTS, petListOf, type StatusFilter } from "./pet_keys.ts";

/** A pet of a category, and the list that has its record. */
export interface PetPlace {
  id: number;
  list: string;
}

/** The text of a pet in the column after an event; `undefined` if the event removed the pet. */
export function placeAfter({ type, data }: PetEventBody): string | undefined {
  if (type === "PetRemoved") return undefined;
  return placeOf(data.categoryId, petListOf(data.status));
}

function placeOf(categoryId: bigint | null, list: string): string {
  return `${categoryId}/${list}`;
}

/** The newest pets of a category, and of a status, up to an id. */
export function findPlaces(
  column: Column,
  { categoryId, status }: { categoryId: bigint; status?: StatusFilter },
  range: { newest: number; limit: number },
): PetPlace[] {
  const lists = status === undefined ? PET_LISTS : [petListOf(status)];
  const listOfPlace = new Map(lists.map((list) => [placeOf(categoryId, list), list]));
  const ids = column.find([...listOfPlace.keys()], range);
  return ids.map((id) => ({ id, list: listOfPlace.get(column.textOf(id)!)! }));
}
