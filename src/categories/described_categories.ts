/** The schemas, examples and tag that the described operations of categories share. */

import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import { z } from "zod";
import {
  Category,
  CATEGORY_EVENT_TYPES,
  CategoryNamedData,
  NewCategory,
} from "../../events/category.ts";
import { schemaComponent } from "../api/component.ts";
import { eventSchema, exampleEvent } from "../api/described_event.ts";
import type { Tag } from "../api/operation.ts";
import { integerSchema } from "../api/requests/query.ts";
import { categorySubject } from "./category_records.ts";

export const CATEGORIES_TAG: Tag = {
  name: "Categories",
  description: "The names of the categories of animals",
};

export const CATEGORY = schemaComponent("Category", Category);

export const CATEGORY_INPUT = schemaComponent(
  "CategoryInput",
  NewCategory.meta({
    title: "NewCategory",
    description: "The body of a request to name a category",
  }),
);

export const CATEGORY_COUNT = schemaComponent(
  "CategoryCount",
  z.strictObject({
    id: Category.shape.id,
    animals: z.int().min(1).meta({
      description: "How many animals have the category",
      format: "int64",
    }),
  }),
);

export const CATEGORY_EVENT = schemaComponent(
  "CategoryEvent",
  eventSchema({
    types: CATEGORY_EVENT_TYPES,
    subject: { pattern: /^categories\/(0|-?[1-9]\d*)$/, maxLength: 31 },
    data: CategoryNamedData.describe(
      "The category as it is after a `CategoryNamed`, or was before a `CategoryRemoved`, and in `previous` of a " +
        "`CategoryNamed` its former name, if it had one",
    ),
    resource: "category",
    description: "A CloudEvent 1.0 (https://cloudevents.io): a category was named or removed",
  }),
);

export const EXAMPLE_NEW_CATEGORY = { name: "Dogs" };
export const EXAMPLE_CATEGORY = { id: 7, ...EXAMPLE_NEW_CATEGORY };
export const EXAMPLE_CATEGORY_COUNT = { id: EXAMPLE_CATEGORY.id, animals: 12 };
export const EXAMPLE_CATEGORY_EVENT = exampleEvent(
  "CategoryNamed",
  categorySubject(BigInt(EXAMPLE_CATEGORY.id)),
  EXAMPLE_CATEGORY,
);

/** The parameter `{categoryId}` of a path. */
export const CATEGORY_ID = {
  name: "categoryId",
  in: "path",
  required: true,
  description: "The identifier of the category, as in the `categoryId` of its animals",
  schema: integerSchema("int64", String(INT64_MIN), String(INT64_MAX)),
  example: EXAMPLE_CATEGORY.id,
} as const;
