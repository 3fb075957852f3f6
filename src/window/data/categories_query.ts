/** The query that keeps the names of categories. */

import { type NamedCategory, setCategoryNames } from "./categories.ts";
import { Query, readNow } from "./queries.ts";

/** All names. */
export const categoriesQuery = new Query(async () => {
  const { body } = await readNow<NamedCategory[]>("categories", ["id"]);
  setCategoryNames(body);
});
