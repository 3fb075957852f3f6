/** The page that names categories. With a key that may only read, it lists them. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { wanted } from "./animals.ts";
import { removeCategory } from "./categories.ts";
import { namedCategories, type NamedCategory } from "./category_names.ts";
import { openCategoryDialog } from "./category_dialog.tsx";
import { ask } from "./dialog.tsx";
import { NO_FILTER } from "./filter.ts";
import { Icon } from "./icon.tsx";
import { mayWrite } from "./key_info.ts";
import { attempt, showToast } from "./messages.tsx";
import { Name } from "./name.tsx";
import { addressOf, onFollow, showList, showListAgain } from "./navigation.ts";

export function CategoriesPage(): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const all = namedCategories.value;
  return (
    <article>
      <a class="back" href={addressOf(wanted.value)} onClick={onFollow(showListAgain)}>
        <Icon name="back" /> All animals
      </a>
      <div class="facts">
        <h2 class="title" ref={heading} tabIndex={-1} data-home>Categories</h2>
        <span class="space" />
        {mayWrite.value && (
          <button
            type="button"
            class="primary"
            onClick={() => openCategoryDialog()}
          >
            Add a category
          </button>
        )}
      </div>
      {all.length === 0
        ? <p class="soft">No category has a name yet. Animals can have one by its number, too.</p>
        : <Table all={all} />}
    </article>
  );
}

function Table({ all }: { all: readonly NamedCategory[] }): JSX.Element {
  return (
    <table class="categories">
      <thead>
        <tr>
          <th>Name</th>
          <th class="number">Id</th>
          {mayWrite.value && (
            <th>
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {all.map((category) => (
          <tr key={category.id}>
            <td>
              <AnimalsLink category={category} />
            </td>
            <td class="number">{String(category.id)}</td>
            {mayWrite.value && (
              <td>
                <span class="buttons">
                  <Actions category={category} />
                </span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The name leads to the animals of the category. */
function AnimalsLink({ category: { id, name } }: { category: NamedCategory }): JSX.Element {
  const filter = { ...NO_FILTER, categoryId: String(id) };
  return (
    <a href={addressOf(filter)} onClick={onFollow(() => showList(filter))}>
      <Name of={name} />
    </a>
  );
}

function Actions({ category }: { category: NamedCategory }): JSX.Element {
  const { name } = category;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Rename ${name}`}
        onClick={() => openCategoryDialog({ renamed: category })}
      >
        Rename
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${name}`}
        onClick={() => askToRemove(category)}
      >
        Remove
      </button>
    </>
  );
}

async function askToRemove(category: NamedCategory): Promise<void> {
  const { id, name } = category;
  const isSure = await ask({
    title: (
      <>
        Remove the name <Name of={name} />?
      </>
    ),
    text: `Its animals stay in category ${id}, which can be named again.`,
    no: "Keep",
    yes: "Remove",
  });
  if (!isSure) return;
  await attempt(async () => {
    await removeCategory(category);
    showToast(
      <>
        The name <Name of={name} /> was removed
      </>,
    );
  });
}
