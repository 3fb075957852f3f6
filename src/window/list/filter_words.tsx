/** A filter in words, such as "sold in Dogs, with “re”". */

import type { ComponentChildren, JSX } from "preact";
import { CategoryName } from "../categories/category_name.tsx";
import { statusLabel } from "../data/fields.ts";
import { type Filter, searchedId } from "../data/filter.ts";

export function FilterWords(
  { filter: { status, categoryId, q } }: { filter: Filter },
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
      {(status !== "" || categoryId !== "") && q !== "" && ", "}
      {q !== "" && searchWords(q)}
    </span>
  );
}

function statusWords(status: Filter["status"]): string {
  if (status === "") return "";
  return status === "none" ? "without a status" : statusLabel(status).toLowerCase();
}

function searchWords(q: string): ComponentChildren {
  return (
    <>
      with “<bdi translate={false}>{q}</bdi>”{searchedId(q) !== undefined &&
        " as the id or in a text"}
    </>
  );
}
