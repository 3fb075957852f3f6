/** The counts of categories in the head. */

import type { Head } from "eventstore-less";
import { CATEGORY_EVENT_TYPES } from "../../events/category.ts";

export const CATEGORIES_COLLECTION = "categories";

/** The count of the categories that have a name. */
export const NAMED = "named";

export function categoryCount({ counts }: Pick<Head, "counts">): number {
  return counts[CATEGORIES_COLLECTION]?.[NAMED] ?? 0;
}

/** Position of the last event of a category; 0 without one. */
export function categoryPositionOf({ types }: Pick<Head, "types">): number {
  return Math.max(...CATEGORY_EVENT_TYPES.map((type) => types[type]?.last ?? 0));
}
