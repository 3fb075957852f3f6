/** A category as the page shows it: its name, with the id as its tooltip, or "Category" and the id. */

import type { JSX } from "preact";
import { nameOfCategory } from "../data/categories.ts";
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
