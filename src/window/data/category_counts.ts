/** How many animals the categories have. The page of the categories keeps it up to date while somebody looks at it. */

import { signal } from "@preact/signals";
import { rememberCategories } from "./categories.ts";
import { Query, readNow } from "./queries.ts";

/** Many events may come in a second. */
const PAUSE_MS = 1_000;

interface CategoryCount {
  id: bigint;
  animals: number;
}

/** `undefined` before the first count. */
const animalsByCategory = signal<ReadonlyMap<bigint, number> | undefined>(undefined);

/** The number of animals of a category; `undefined` if nobody has counted yet. */
export function countOfCategory(id: bigint): number | undefined {
  return animalsByCategory.value === undefined ? undefined : animalsByCategory.value.get(id) ?? 0;
}

/** It also finds the categories without a name. */
export const categoryCountsQuery = new Query(async () => {
  const { body } = await readNow<CategoryCount[]>("categories/counts", ["id"]);
  rememberCategories(body.map(({ id }) => id));
  animalsByCategory.value = new Map(body.map(({ id, animals }) => [id, animals]));
}, PAUSE_MS);

export function forgetCategoryCounts(): void {
  animalsByCategory.value = undefined;
}
