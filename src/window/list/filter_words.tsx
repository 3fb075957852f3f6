/** A filter in words, such as "sold in Dogs, with “re” in the name". */

import type { ComponentChildren, JSX } from "preact";
import { CategoryName } from "../categories/category_name.tsx";
import { statusLabel } from "../data/fields.ts";
import { type Filter, searchedId } from "../data/filter.ts";

export function FilterWords(
  { filter: { status, categoryId, name } }: { filter: Filter },
): JSX.Element {
  return (
    <span>
      {statusWords(status)}
      {status !== "" && categoryId !== "" && " "}
      {categoryId !== "" && (
        <>
          in <CategoryName id={BigInt(categoryId)} />
        </>
      )}
      {(status !== "" || categoryId !== "") && name !== "" && ", "}
      {name !== "" && nameWords(name)}
    </span>
  );
}

function statusWords(status: Filter["status"]): string {
  if (status === "") return "";
  return status === "none" ? "without a status" : statusLabel(status).toLowerCase();
}

function nameWords(name: string): ComponentChildren {
  const place = searchedId(name) === undefined ? "in the name" : "as the id or in the name";
  return (
    <>
      with “<bdi translate={false}>{name}</bdi>” {place}
    </>
  );
}
