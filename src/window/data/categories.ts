/** The known categories, and their names. The rest of the page changes them only through the functions here. */

import { INT64_MAX } from "eventstore-less/int64";
import { computed, signal } from "@preact/signals";
import { foldName } from "../../encoding/fold_name.ts";
import { SimilarNames } from "../../encoding/similar_names.ts";
import { isRoundedNumber } from "../csv/rounded_number.ts";
import { isBlank } from "../parts/blank.ts";
import { seenText } from "../parts/seen_text.ts";

/** The limit of the interface, in Unicode code points. */
const CATEGORY_NAME_MAX_LENGTH = 100;

/** A category that has a name. */
export interface NamedCategory {
  id: bigint;
  name: string;
}

/** A category that has a name, or that animals have without a name. */
export interface Category {
  id: bigint;
  name?: string;
}

/** Names by the ids of their categories. The map is replaced after each change. */
const names = signal<ReadonlyMap<bigint, string>>(new Map());

/** The categories of the animals that the page has loaded so far. The set is replaced after each change. */
const used = signal<ReadonlySet<bigint>>(new Set());

/** All categories with names, by these in alphabetical order. */
export const namedCategories = computed<readonly NamedCategory[]>(() => {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const all = Array.from(names.value, ([id, name]) => ({ id, name }));
  return all.sort((a, b) => compare(a.name, b.name));
});

/** All categories without a name that animals have, as far as the page has loaded these, by their ids. */
export const unnamedCategories = computed<readonly Category[]>(() => {
  const ids = [...used.value].filter((id) => !names.value.has(id));
  return ids.sort((a, b) => a < b ? -1 : 1).map((id) => ({ id }));
});

/** The ids of the categories by their labels as these are compared. Labels of several ids look alike. */
const idsByLabel = computed(() => {
  const ids = Map.groupBy(names.value.keys(), (id) => comparedName(names.value.get(id)!));
  for (const category of unnamedCategories.value) {
    const label = comparedName(labelOf(category));
    if (!ids.has(label)) ids.set(label, [category.id]);
  }
  return ids;
});

export function setCategoryNames(categories: readonly NamedCategory[]): void {
  names.value = new Map(categories.map(({ id, name }) => [id, name]));
}

/** Remembers that animals have these categories. */
export function rememberCategories(ids: readonly bigint[]): void {
  const after = new Set([...used.value, ...ids]);
  if (after.size > used.value.size) used.value = after;
}

export function forgetUsedCategories(): void {
  used.value = new Set();
}

/** An id above those of all known categories; 1 if these have the largest one. */
export function idAboveKnown(): bigint {
  const ids = [...names.value.keys(), ...used.value];
  const largest = ids.reduce((most, id) => id > most ? id : most, 0n);
  return largest < INT64_MAX ? largest + 1n : 1n;
}

/** The name of a category or, without one, "Category" and its id. */
export function labelOf({ id, name }: Category): string {
  return name ?? `Category ${id}`;
}

export function nameOfCategory(id: bigint): string | undefined {
  return names.value.get(id);
}

/** The text by which the page compares names. The interface tells names with other blanks around them apart. */
export function comparedName(name: string): string {
  return foldName(name).trim();
}

/** The ids of the categories with a name: several if earlier versions have named them alike. */
export function categoriesWithName(name: string): readonly bigint[] {
  return idsByLabel.value.get(comparedName(name)) ?? [];
}

/** The named categories that a search may mean, the most similar one first. */
export function categoriesLike(search: string, limit: number): readonly NamedCategory[] {
  const similar = new SimilarNames(search, limit);
  for (const { name } of namedCategories.value) similar.add(name);
  return similar.names.flatMap((name) => namedCategories.value.filter((it) => it.name === name));
}

/** The other categories whose names look like that of a category. */
export function twinsOf({ id, name }: NamedCategory): readonly bigint[] {
  return categoriesWithName(name).filter((it) => it !== id);
}

/** The fault of a name for `category`, or for a new one. */
export function faultOfCategoryName(name: string, category?: Category): string | undefined {
  if (name.trim() === "") return "Name is missing";
  if (isBlank(name)) return "Name has no visible character";
  const isTooLong = [...name.trim()].length > CATEGORY_NAME_MAX_LENGTH;
  if (isTooLong) return `Name has more than ${CATEGORY_NAME_MAX_LENGTH} characters`;
  if (isRoundedNumber(seenText(name))) return "Name is a number that a spreadsheet has rounded";
  const isTaken = categoriesWithName(name).some((id) => id !== category?.id);
  return isTaken ? "Another category has this name" : undefined;
}

/** Whether a text could be the name of a new category: it has a letter or a picture, and no category looks like it. */
export function isNewCategoryName(text: string): boolean {
  const hasSign = /[\p{L}\p{Extended_Pictographic}]/u.test(text);
  return hasSign && !isRoundedNumber(seenText(text)) && categoriesWithName(text).length === 0;
}

/**
 * The categories whose name contains a text, and those without a name that it may begin. The one with this id comes first,
 * and then the one with this name.
 */
export function findCategories(text: string): readonly Category[] {
  const trimmed = seenText(text);
  const folded = comparedName(trimmed);
  const named = namedCategories.value;
  const unnamed = unnamedCategories.value;
  const all: Category[] = [...named, ...unnamed];
  const isWithId = ({ id }: Category) => String(id) === trimmed;
  const isNamed = (it: Category) => comparedName(labelOf(it)) === folded;
  const hasPart = (it: Category) => comparedName(labelOf(it)).includes(folded);
  const isBegun = (it: Category) =>
    String(it.id).startsWith(trimmed) || comparedName(labelOf(it)).startsWith(folded);
  const meant = [...all.filter(isWithId), ...all.filter(isNamed)];
  return [...new Set([...meant, ...named.filter(hasPart), ...unnamed.filter(isBegun)])];
}
