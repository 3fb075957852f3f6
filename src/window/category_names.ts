/** The names of categories. The rest of the page changes them only through the functions here. */

import { computed, signal } from "@preact/signals";
import { foldCase } from "../encoding/fold_case.ts";

/** A category that has a name. */
export interface NamedCategory {
  id: bigint;
  name: string;
}

/** Names by the ids of their categories. The map is replaced after each change. */
const names = signal<ReadonlyMap<bigint, string>>(new Map());

/** All categories with names, by these in alphabetical order. */
export const namedCategories = computed<readonly NamedCategory[]>(() => {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const all = Array.from(names.value, ([id, name]) => ({ id, name }));
  return all.sort((a, b) => compare(a.name, b.name));
});

/** The ids by the names, without regard to case. A name that is not clear has none. */
const idsByName = computed(() => {
  const ids = new Map<string, bigint | undefined>();
  for (const [id, name] of names.value) {
    const folded = foldCase(name.trim());
    // The interface tells names with other blanks around them apart.
    ids.set(folded, ids.has(folded) ? undefined : id);
  }
  return ids;
});

export function setCategoryNames(categories: readonly NamedCategory[]): void {
  names.value = new Map(categories.map(({ id, name }) => [id, name]));
}

/** Changes some names; `undefined` removes one. */
export function changeCategoryNames(changes: ReadonlyMap<bigint, string | undefined>): void {
  if (changes.size === 0) return;
  const after = new Map(names.value);
  for (const [id, name] of changes) {
    if (name === undefined) after.delete(id);
    else after.set(id, name);
  }
  names.value = after;
}

export function nameOfCategory(id: bigint): string | undefined {
  return names.value.get(id);
}

/** The id of the category with a name, without regard to case. */
export function categoryWithName(name: string): bigint | undefined {
  return idsByName.value.get(foldCase(name.trim()));
}

/** The categories whose name contains a text. The one with this id comes first, and then the one with this name. */
export function findCategories(text: string): readonly NamedCategory[] {
  const trimmed = text.trim();
  const folded = foldCase(trimmed);
  const isWithId = ({ id }: NamedCategory) => String(id) === trimmed;
  const isNamed = ({ name }: NamedCategory) => foldCase(name.trim()) === folded;
  const all = namedCategories.value;
  const meant = new Set([...all.filter(isWithId), ...all.filter(isNamed)]);
  const others = all.filter((it) => !meant.has(it) && foldCase(it.name).includes(folded));
  return [...meant, ...others];
}

/** A category in words: its name and its id, or the id alone. */
export function categoryInWords(id: bigint): string {
  const name = nameOfCategory(id);
  return name === undefined ? String(id) : `${name} (${id})`;
}
