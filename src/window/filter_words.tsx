/** A filter in words, such as "sold, in category Dogs, with “re” in the name". */

import { type ComponentChildren, Fragment, type JSX } from "preact";
import { categoryInWords } from "./category_names.ts";
import { type Filter, searchedId, TABS } from "./filter.ts";

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
  if (status !== "") words.push(TABS.find(({ tab }) => tab === status)!.label.toLowerCase());
  if (categoryId !== "") {
    words.push(
      <>
        in category <bdi>{categoryInWords(BigInt(categoryId))}</bdi>
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
