/** The filter of the list, as the address of the page names it. */

import type { Pet, PetStatus } from "../../../events/pet.ts";
import { foldName } from "../../encoding/fold_name.ts";
import { seenText } from "../parts/seen_text.ts";
import { STATUS_NAMES, statusLabel } from "./fields.ts";

/** "" means every status, every category or every name, and as an order, newest first. */
export interface Filter {
  status: Tab;
  categoryId: string;
  /** A part of a name, or an id. */
  name: string;
  order: Order;
}

type Order = "" | "asc";

/** A tab lists the animals of one status. The tab "" lists all, and `none` those without a status. */
export type Tab = "" | PetStatus | "none";

export const NO_FILTER: Filter = { status: "", categoryId: "", name: "", order: "" };

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

export function matches(pet: Pet, { status, categoryId, name }: Filter): boolean {
  const isInCategory = categoryId === "" || BigInt(categoryId) === pet.categoryId;
  const isFound = name === "" || foldName(pet.name).includes(foldName(name)) ||
    searchedId(name) === pet.id;
  return isInTab(status, pet.status) && isInCategory && isFound;
}

/** The id that a searched text may mean, as in "12" and "#12". */
export function searchedId(name: string): number | undefined {
  const [, digits] = /^#?(\d{1,16})$/.exec(seenText(name)) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

export function isFiltered(filter: Filter): boolean {
  return filter.status !== "" || isSearch(filter);
}

/** Whether the list has less than its tab. */
export function isSearch({ categoryId, name }: Filter): boolean {
  return categoryId !== "" || name !== "";
}

/** The query that lists what a filter finds. */
export function queryOf(filter: Filter, limit: number): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  return query;
}
