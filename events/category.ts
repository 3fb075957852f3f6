/** A category of animals with its name, and the events by which it gets and loses the name. */

import { objectEncoder } from "eventstore-less/encoding";
import { z } from "zod";
import { int64, text } from "./pet.ts";

/** Longest name of a category, in Unicode code points. */
export const CATEGORY_NAME_MAX_LENGTH = 100;

/** The body of a request that names a category. */
export const NewCategory = z.strictObject({
  name: text(CATEGORY_NAME_MAX_LENGTH, "The name, which no other category has in any case")
    .refine((name) => /\S/.test(name), "must not consist of blanks only"),
});
export type NewCategory = z.infer<typeof NewCategory>;

/** A category that has a name. Its id is that of the `categoryId` of its animals. */
export const Category = z.strictObject({
  id: int64("The identifier of the category, as in the categoryId of its animals"),
  ...NewCategory.shape,
});
export type Category = z.infer<typeof Category>;

/** The category after it was named. `previous` has its former name, if it had one. */
export const CategoryNamedData = Category.extend({ previous: NewCategory.optional() });
export type CategoryNamedData = z.infer<typeof CategoryNamedData>;

/** The data of a removal is the category as it was before. */
export type CategoryEventBody =
  | { type: "CategoryNamed"; data: CategoryNamedData }
  | { type: "CategoryRemoved"; data: Category };

export const CATEGORY_EVENT_TYPES = ["CategoryNamed", "CategoryRemoved"] as const;

/** The only JSON text of a category, in the log and in responses. */
export const encodeCategory: (category: Category) => string = objectEncoder(Category);
