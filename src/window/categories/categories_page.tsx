/** The page of the categories, with a name and without one. With a key that may only read, it lists them. */

import type { ComponentChildren, JSX } from "preact";
import { removeCategory } from "../data/write_category.ts";
import {
  type Category,
  labelOf,
  namedCategories,
  type NamedCategory,
  twinsOf,
  unnamedCategories,
} from "../data/categories.ts";
import { openCategoryDialog } from "./category_dialog.tsx";
import { CategoryName } from "./category_name.tsx";
import { ask } from "../parts/dialog.tsx";
import { NO_FILTER } from "../data/filter.ts";
import { mayWrite } from "../data/key_info.ts";
import { attempt, showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { PageHeading } from "../parts/page_heading.tsx";
import { BackLink } from "../navigation/back_link.tsx";
import { addressOf, onFollow, showList } from "../navigation/navigation.ts";

export function CategoriesPage(): JSX.Element {
  const hasSome = namedCategories.value.length + unnamedCategories.value.length > 0;
  return (
    <article>
      <BackLink />
      <div class="facts">
        <PageHeading>Categories</PageHeading>
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
      {hasSome ? <CategoryTable /> : <NoCategories />}
      {mayWrite.value && (
        <p class="note small">
          Does an animal have a category without a name? You can name it here once you have seen the
          animal.
        </p>
      )}
    </article>
  );
}

function NoCategories(): JSX.Element {
  return (
    <p class="empty">
      No categories yet. {mayWrite.value && "You can also add one while you add an animal."}
    </p>
  );
}

function CategoryTable(): JSX.Element {
  const unnamed = unnamedCategories.value;
  return (
    <table class="categories">
      <thead>
        <tr>
          <th>Name</th>
          {mayWrite.value && (
            <th>
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {namedCategories.value.map((category) => (
          <CategoryRow key={category.id} category={category} twins={twinsOf(category)}>
            <NamedActions category={category} />
          </CategoryRow>
        ))}
      </tbody>
      {unnamed.length > 0 && (
        <tbody>
          <tr>
            <th scope="rowgroup" colSpan={mayWrite.value ? 2 : 1}>Without a name</th>
          </tr>
          {unnamed.map((category) => (
            <CategoryRow key={category.id} category={category}>
              <button
                type="button"
                class="quiet"
                aria-label={`Name it: ${labelOf(category)}`}
                onClick={() => openCategoryDialog(category)}
              >
                Name it
              </button>
            </CategoryRow>
          ))}
        </tbody>
      )}
    </table>
  );
}

interface RowProps {
  category: Category;
  /** Other categories whose names look like that of this one. */
  twins?: readonly bigint[];
  /** The buttons. */
  children: ComponentChildren;
}

function CategoryRow({ category, twins = [], children }: RowProps): JSX.Element {
  return (
    <tr>
      <td>
        <AnimalsLink id={category.id} />
        {twins.length > 0 && (
          <p class="soft small">
            Category {String(category.id)}, which looks like category {twins.join(" and ")}
          </p>
        )}
      </td>
      {mayWrite.value && (
        <td>
          <span class="buttons">{children}</span>
        </td>
      )}
    </tr>
  );
}

/** The name leads to the animals of the category. */
function AnimalsLink({ id }: { id: bigint }): JSX.Element {
  const filter = { ...NO_FILTER, categoryId: String(id) };
  return (
    <a href={addressOf(filter)} onClick={onFollow(() => showList(filter))}>
      <CategoryName id={id} />
    </a>
  );
}

function NamedActions({ category }: { category: NamedCategory }): JSX.Element {
  const { name } = category;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Rename ${name}`}
        onClick={() => openCategoryDialog(category)}
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
    text: `Its animals stay in category ${id}, which has no name then.`,
    no: "Keep",
    yes: "Remove name",
  });
  if (!isSure) return;
  await attempt(`category ${id}`, async () => {
    await removeCategory(category);
    showToast(
      <>
        The name <Name of={name} /> was removed
      </>,
    );
  });
}
