/** The filter of the list, as the address of the page names it. */

import type { Pet, PetStatus } from "../../../events/pet.ts";
import { hasWords, searchedText, wordsOf } from "../../encoding/word_search.ts";
import { seenText } from "../parts/seen_text.ts";
import { nameOfCategory } from "./categories.ts";
import { STATUS_NAMES, statusLabel } from "./fields.ts";

/** "" means every status, every category or every text, and as an order, newest first. */
export interface Filter {
  status: Tab;
  categoryId: string;
  /** Words of the name, the note and the name of the category, or an id. */
  q: string;
  order: Order;
}

type Order = "" | "asc";

/** A tab lists the animals of one status. The tab "" lists all, and `none` those without a status. */
export type Tab = "" | PetStatus | "none";

export const NO_FILTER: Filter = { status: "", categoryId: "", q: "", order: "" };

export const TABS: readonly { tab: Tab; label: string }[] = [
  { tab: "", label: "All" },
  ...STATUS_NAMES.map((status) => ({ tab: status, label: statusLabel(status) })),
  { tab: "none", label: statusLabel(undefined) },
];

export function isTab(text: string): text is Tab {
  return TABS.some(({ tab }) => tab === text);
}

/** Whether the tab lists animals of a status. */
export function isInTab(tab: Tab, status: PetStatus | undefined): boolean {
  return tab === "" || tab === (status ?? "none");
}

export function matches(pet: Pet, { status, categoryId, q }: Filter): boolean {
  const isInCategory = categoryId === "" || BigInt(categoryId) === pet.categoryId;
  const isFound = q === "" || searchedId(q) === pet.id || hasSearchedWords(pet, q);
  return isInTab(status, pet.status) && isInCategory && isFound;
}

/** The texts of animals as searches compare them. An animal that changes is another object. */
const searchedTexts = new WeakMap<Pet, string>();

/** Whether an animal has the words of a search, by the same rule as the interface. */
export function hasSearchedWords(pet: Pet, q: string): boolean {
  const { name, note = "", categoryId } = pet;
  const ofPet = searchedTexts.get(pet) ?? searchedText(`${name}\n${note}`);
  searchedTexts.set(pet, ofPet);
  const ofCategory = searchedText(nameOfCategory(categoryId) ?? "");
  return hasWords(`${ofPet}\n${ofCategory}`, wordsOf(q));
}

/** The id that a searched text may mean, as in "12" and "#12". */
export function searchedId(q: string): number | undefined {
  const [, digits] = /^#?(\d{1,16})$/.exec(seenText(q)) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

export function isFiltered(filter: Filter): boolean {
  return filter.status !== "" || isSearch(filter);
}

/** Whether the list has less than its tab. */
export function isSearch({ categoryId, q }: Filter): boolean {
  return categoryId !== "" || q !== "";
}

/** The query that lists what a filter finds. */
export function queryOf(filter: Filter, limit: number): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  return query;
}
