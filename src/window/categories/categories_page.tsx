/** The page of the categories, with a name and without one. With a key that may only read, it lists them. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
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
import { countOfCategory } from "../data/category_counts.ts";
import { grouped } from "../parts/count_words.ts";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { ask } from "../parts/dialog.tsx";
import { restoreFocus } from "../parts/focus.ts";
import { NO_FILTER } from "../data/filter.ts";
import { mayWrite } from "../data/key_info.ts";
import { attempt, showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { PageHeading } from "../parts/page_heading.tsx";
import { BackLink } from "../navigation/back_link.tsx";
import { addressOf, onFollow, showList } from "../navigation/navigation.ts";

interface CategoriesPageProps {
  /** Lets the reader move all animals of a category, to `target` if that is given. */
  onMove: (category: Category, target?: bigint) => void;
}

export function CategoriesPage({ onMove }: CategoriesPageProps): JSX.Element {
  const hasSome = namedCategories.value.length + unnamedWithAnimals().length > 0;
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
      {hasSome ? <CategoryTable onMove={onMove} /> : <NoCategories />}
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

/** The categories without a name that animals have. The page may remember others, which had some before. */
function unnamedWithAnimals(): readonly Category[] {
  return unnamedCategories.value.filter(({ id }) => countOfCategory(id) !== 0);
}

function CategoryTable({ onMove }: CategoriesPageProps): JSX.Element {
  const unnamed = unnamedWithAnimals();
  return (
    <table class="categories">
      <thead>
        <tr>
          <th>Name</th>
          <th class="number">Animals</th>
          {mayWrite.value && (
            <th>
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {namedCategories.value.map((category) => (
          <CategoryRow
            key={category.id}
            category={category}
            twins={twinsOf(category)}
            onMove={onMove}
          >
            <NamedActions category={category} onMove={onMove} />
          </CategoryRow>
        ))}
      </tbody>
      {unnamed.length > 0 && (
        <tbody>
          <tr>
            <th scope="rowgroup" colSpan={mayWrite.value ? 3 : 2}>Without a name</th>
          </tr>
          {unnamed.map((category) => (
            <CategoryRow key={category.id} category={category} onMove={onMove}>
              <button
                type="button"
                class="quiet"
                aria-label={`Name it: ${labelOf(category)}`}
                onClick={() =>
                  openCategoryDialog({ category, onMove })}
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

interface CategoryRowProps extends CategoriesPageProps {
  category: Category;
  /** Other categories whose names look like that of this one. */
  twins?: readonly bigint[];
  /** The buttons. */
  children: ComponentChildren;
}

function CategoryRow({ category, twins = [], onMove, children }: CategoryRowProps): JSX.Element {
  const { id } = category;
  const count = countOfCategory(id);
  const mayMove = mayWrite.value && count !== 0;
  const actions = `Actions for ${labelOf(category)}`;
  // A button that moved its animals, or removed its name, is gone then.
  useEffect(() => restoreFocus, [mayMove]);
  return (
    <tr>
      <td>
        <AnimalsLink id={id} />
        {twins.length > 0 && (
          <p class="soft small">
            Category {String(id)}, which looks like category {twins.join(" and ")}
          </p>
        )}
        {mayMove && twins.map((twin) => (
          <button
            key={twin}
            type="button"
            class="link small"
            onClick={() => onMove(category, twin)}
          >
            Move its animals to category {String(twin)}
          </button>
        ))}
      </td>
      <td class="number">{count !== undefined && grouped(count)}</td>
      {mayWrite.value && (
        <td>
          <span class="buttons">
            <Menu
              class="quiet narrow"
              title={actions}
              label={actions}
              isUnfolded
              button={
                <>
                  <span class="unseen">{actions}</span>
                  <Icon name="more" />
                </>
              }
            >
              <p class="title narrow">
                <Name of={labelOf(category)} />
              </p>
              {mayMove && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Move animals of ${labelOf(category)}`}
                  onClick={() => onMove(category)}
                >
                  Move animals
                </button>
              )}
              {children}
            </Menu>
          </span>
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

interface NamedActionsProps extends CategoriesPageProps {
  category: NamedCategory;
}

function NamedActions({ category, onMove }: NamedActionsProps): JSX.Element {
  const { name } = category;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Rename ${name}`}
        onClick={() => openCategoryDialog({ category, onMove })}
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
    text: countOfCategory(id) === 0
      ? "It has no animals."
      : `Its animals stay, in “Category ${id}”.`,
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
