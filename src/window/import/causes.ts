/** Groups the rows that an import leaves out by their causes. */

import { foldName } from "../../encoding/fold_name.ts";
import { comparedName } from "../data/categories.ts";
import type { LeftOut } from "./plan.ts";
import { countAnimals } from "./row_lines.ts";

/** The categories that rows need, whatever else they need: each once, as names are compared. */
export function newCategoriesOf(leftOut: readonly LeftOut[]): string[] {
  const names = leftOut.flatMap(({ newCategory }) => newCategory ?? []);
  const byName = Map.groupBy(names, comparedName);
  return Array.from(byName.values(), ([first]) => first);
}

/** The rows of each cause, the most animals first. A new category is one cause, as names are compared. */
export function causesOf(leftOut: readonly LeftOut[]): LeftOut[][] {
  const causes = Map.groupBy(leftOut, ({ fault }) => foldName(fault));
  return [...causes.values()].sort((a, b) => countAnimals(b) - countAnimals(a));
}
