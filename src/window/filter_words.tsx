/** A filter in words, such as "sold, in Dogs, with “re” in the name". */

import { type ComponentChildren, Fragment, type JSX } from "preact";
import { CategoryName } from "./category_name.tsx";
import { statusLabel } from "./fields.tsx";
import { type Filter, searchedId } from "./filter.ts";

export function FilterWords({ filter }: { filter: Filter }): JSX.Element {
  return (
    <span>
      {wordsOf(filter).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && ", "}
          {part}
        </Fragment>
      ))}
    </span>
  );
}

function wordsOf({ status, categoryId, name }: Filter): ComponentChildren[] {
  const words: ComponentChildren[] = [];
  if (status === "none") words.push("without a status");
  else if (status !== "") words.push(statusLabel(status).toLowerCase());
  if (categoryId !== "") {
    words.push(
      <>
        in <CategoryName id={BigInt(categoryId)} />
      </>,
    );
  }
  if (name !== "") {
    const place = searchedId(name) === undefined ? "in the name" : "as the id or in the name";
    words.push(
      <>
        with “<bdi>{name}</bdi>” {place}
      </>,
    );
  }
  return words;
}
