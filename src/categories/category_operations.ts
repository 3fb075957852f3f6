/** The operations of categories, in the order of the description. */

import type { Operation } from "../api/operation.ts";
import { countAnimals, type CountAnimalsDeps } from "./count_animals.ts";
import { getCategory } from "./get_category.ts";
import { listCategories, type ListCategoriesDeps } from "./list_categories.ts";
import { listCategoryEvents, type ListCategoryEventsDeps } from "./list_category_events.ts";
import { nameCategory, type NameCategoryDeps } from "./name_category.ts";
import { removeCategory } from "./remove_category.ts";

export type CategoryDeps =
  & ListCategoriesDeps
  & CountAnimalsDeps
  & NameCategoryDeps
  & ListCategoryEventsDeps;

export const CATEGORY_OPERATIONS: readonly Operation<CategoryDeps>[] = [
  listCategories,
  countAnimals,
  getCategory,
  nameCategory,
  removeCategory,
  listCategoryEvents,
];
