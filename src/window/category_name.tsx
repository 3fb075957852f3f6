/** A category as the page shows it: its name with the id after it, or "Category" and the id. */

import type { JSX } from "preact";
import { nameOfCategory } from "./category_names.ts";
import { Name } from "./name.tsx";

export function CategoryName({ id }: { id: bigint }): JSX.Element {
  const name = nameOfCategory(id);
  if (name === undefined) return <>Category {String(id)}</>;
  return (
    <>
      <Name of={name} /> <span class="soft beside">({String(id)})</span>
    </>
  );
}
