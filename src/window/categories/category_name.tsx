/** A category as the page shows it: its name, with the id as its tooltip, or "Category" and the id. */

import type { JSX } from "preact";
import { nameOfCategory, twinsOf } from "../data/categories.ts";
import { Name } from "../parts/name.tsx";

export function CategoryName({ id }: { id: bigint }): JSX.Element {
  const name = nameOfCategory(id);
  if (name === undefined) return <>Category {String(id)}</>;
  return (
    <span title={`Category ${id}`}>
      <Name of={name} />
    </span>
  );
}

/** A category in words that mean no other one, also if another one has a name that looks like its own. */
export function DistinctCategory({ id }: { id: bigint }): JSX.Element {
  const name = nameOfCategory(id);
  const hasTwins = name !== undefined && twinsOf({ id, name }).length > 0;
  return (
    <>
      <CategoryName id={id} />
      {hasTwins && ` (category ${id})`}
    </>
  );
}
