/** The text of a list without animals. */

import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { openAddDialog } from "../animal/animal_dialog.tsx";
import { hasMore, hasNothing, isLoading, rowIds, wanted } from "../data/animals.ts";
import { CategoryName } from "../categories/category_name.tsx";
import { categoriesLike } from "../data/categories.ts";
import { counts, similarNames } from "../data/counts.ts";
import { isFiltered, NO_FILTER, searchedId } from "../data/filter.ts";
import { FilterWords } from "./filter_words.tsx";
import { restoreFocus, useHome } from "../parts/focus.ts";
import { openImport } from "../import/open_import.ts";
import { mayWrite } from "../data/key_info.ts";
import { isBlank } from "../parts/blank.ts";
import { Name } from "../parts/name.tsx";
import { showAllAnimals, showList } from "../navigation/navigation.ts";

/** Maximum number of names, and of categories, that a search without results may have meant. */
const SIMILAR_MAX = 3;

/** Whether the store has no animals, not even removed ones, so that there is nothing to find or to export. */
export const isStoreEmpty = computed(() => {
  const isWhole = !hasNothing.value && !hasMore.value && !isLoading.value;
  const isEmpty = isWhole && rowIds.value.length === 0 && !isFiltered(wanted.value);
  return isEmpty && !counts.value.removed;
});

export function EmptyList(): JSX.Element {
  return isFiltered(wanted.value) ? <NoneFound /> : <EmptyStore />;
}

function NoneFound(): JSX.Element {
  const { q, categoryId } = wanted.value;
  const isNewName = !isBlank(q) && searchedId(q) === undefined;
  return (
    <div class="empty">
      <p role="status">
        No animals <FilterWords filter={wanted.value} />.
      </p>
      <Meant q={q} />
      <p class="buttons">
        <button type="button" onClick={showAllAnimals}>Clear</button>
        {mayWrite.value && isNewName && (
          <button
            type="button"
            onClick={() => openAddDialog({ name: q, categoryId })}
          >
            Add an animal “<bdi translate={false}>{q}</bdi>”
          </button>
        )}
      </p>
    </div>
  );
}

/** The names and the categories that a search without results may have meant. */
function Meant({ q }: { q: string }): JSX.Element | null {
  const names = similarNames.value.slice(0, SIMILAR_MAX);
  const categories = q === "" ? [] : categoriesLike(q, SIMILAR_MAX);
  if (names.length + categories.length === 0) return null;
  return (
    <div>
      <p>Did you mean</p>
      <p class="buttons">
        {names.map((name) => (
          <button type="button" key={name} onClick={() => showList({ q: name })}>
            <Name of={name} />
          </button>
        ))}
        {categories.map(({ id }) => (
          <button
            type="button"
            key={String(id)}
            onClick={() => showList({ ...NO_FILTER, categoryId: String(id) })}
          >
            the category <CategoryName id={id} />
          </button>
        ))}
      </p>
    </div>
  );
}

function EmptyStore(): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useHome(heading);
  // The tabs have gone when it comes, and it goes with the first animal.
  useEffect(() => {
    restoreFocus();
    return restoreFocus;
  }, []);
  return (
    <div class="empty">
      <img src="docs/icon.svg" alt="" width="56" height="56" />
      <h2 ref={heading} class="title" tabIndex={-1}>No animals yet</h2>
      {mayWrite.value
        ? (
          <>
            <p>Add the first one, or bring a whole list from a spreadsheet.</p>
            <p class="buttons">
              <button
                type="button"
                class="primary"
                aria-keyshortcuts="n"
                onClick={() => openAddDialog()}
              >
                Add an animal
              </button>
              <button type="button" onClick={openImport}>Import</button>
            </p>
          </>
        )
        : <p>You will see them here as soon as somebody adds one.</p>}
    </div>
  );
}
