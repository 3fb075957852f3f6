/** The subjects of categories, and their records: the keys, without the generation, and the contents. An id in a key is a text. */

import { encodeJson } from "eventstore-less";
import { CATEGORIES_COLLECTION } from "./category_counts.ts";

/** The record of a category that has a name. */
export const CATEGORY_KIND = "category";

export function categoryKey(id: bigint) {
  return [CATEGORY_KIND, String(id)];
}

/** The name of a category, and the position of the event that gave it. */
export function categoryContentOf(position: number, name: string): Uint8Array {
  return encodeJson({ position, name });
}

/** The key of the record that a removed category leaves until it is named again. */
export function removedCategoryKey(id: bigint) {
  return ["removed_category", String(id)];
}

/** The position of the removal, which the next event of the category names as its predecessor. */
export function removalContentOf(position: number): Uint8Array {
  return encodeJson({ position });
}

/** The subject of the events of a category. */
export function categorySubject(id: bigint): string {
  return `${CATEGORIES_COLLECTION}/${id}`;
}
