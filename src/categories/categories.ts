/** All that the engine must know of categories: their events, and the records that these make. */

import type { Collection, EventDefinition, EventDefinitions } from "eventstore-less";
import { Category, type CategoryEventBody, CategoryNamedData } from "../../events/category.ts";
import { CATEGORIES_COLLECTION, NAMED } from "./category_counts.ts";
import { CategoryHistory } from "./category_history.ts";
import { parseCategoryId } from "./category_id.ts";
import {
  CATEGORY_KIND,
  categoryContentOf,
  categoryKey,
  removalContentOf,
  removedCategoryKey,
} from "./category_records.ts";

/** The parts that all events of categories share. */
const OF_CATEGORY = {
  release: "6.0",
  shown: () => ({}),
} satisfies Partial<EventDefinition<Category>>;

const CATEGORY_EVENTS: EventDefinitions<CategoryEventBody> = {
  CategoryNamed: {
    ...OF_CATEGORY,
    data: CategoryNamedData,
    project({ event: { data: { id, name, previous }, position } }) {
      const written = { key: categoryKey(id), content: categoryContentOf(position, name) };
      return previous === undefined ? [{ key: removedCategoryKey(id) }, written] : [written];
    },
    tally: ({ previous }) => previous === undefined ? [[NAMED, 1]] : [],
  },
  CategoryRemoved: {
    ...OF_CATEGORY,
    data: Category,
    project({ event: { data: { id }, position } }) {
      const removal = { key: removedCategoryKey(id), content: removalContentOf(position) };
      return [{ key: categoryKey(id) }, removal];
    },
    tally: () => [[NAMED, -1]],
  },
};

export const CATEGORIES: Collection<CategoryEventBody> = {
  name: CATEGORIES_COLLECTION,
  isId: (text) => parseCategoryId(text) !== undefined,
  exampleId: "7",
  events: CATEGORY_EVENTS,
  personal: ["name"],
  kinds: {
    [CATEGORY_KIND]: {
      key: ["text"],
      describe: ([, id]) => `Category ${id}`,
    },
    removed_category: {
      key: ["text"],
      owner: ([, id]) => `category ${id}`,
      describe: ([, id]) => `The removal of category ${id}`,
    },
  },
  newHistory: () => new CategoryHistory(),
};
