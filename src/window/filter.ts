/** The filter of the list, as the address of the page names it. */

import type { Pet, PetStatus } from "../../events/pet.ts";
import { foldCase } from "../encoding/fold_case.ts";
import { STATUS_NAMES, statusLabel } from "./fields.tsx";

/** "" stands for every status, every category or every name. */
export interface Filter {
  status: Tab;
  categoryId: string;
  name: string;
}

/** A tab lists the animals of one status. The tab "" lists all, and `none` those without a status. */
export type Tab = "" | PetStatus | "none";

export const NO_FILTER: Filter = { status: "", categoryId: "", name: "" };

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
  return isInTab(status, pet.status) && isInCategory &&
    foldCase(pet.name).includes(foldCase(name));
}

export function isFiltered(filter: Filter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** The query that lists what a filter finds. */
export function queryOf(filter: Filter, limit: number): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  return query;
}
