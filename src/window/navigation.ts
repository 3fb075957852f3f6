/** The list or the animal that the page shows. The address always names it. */

import { batch, signal } from "@preact/signals";
import { hasNothing, loadAnimals, wanted } from "./animals.ts";
import { FIELDS } from "./fields.tsx";
import { afterDraw, restoreFocus } from "./focus.ts";
import { type Filter, isTab, NO_FILTER } from "./filter.ts";
import { attempt } from "./messages.tsx";

/** The animal whose page is shown; `undefined` while the list is shown. */
export const animalId = signal<number | undefined>(undefined);

/** The texts in the fields of the filter. The list follows when the reader pauses. */
export const typed = signal<TypedFilter>({ categoryId: "", name: "" });

/** The fault of the text in the category field, which the list does not follow. */
export const filterFault = signal<string | undefined>(undefined);

type TypedFilter = Pick<Filter, "categoryId" | "name">;

/** Scroll position of the list when the page of an animal was opened, in pixels. */
let scrollOfList = 0;

/** Called after the list is shown again, in the place where it was. */
export const shownAgain = signal(0);

/** Shows what the address says: at the beginning, and when the reader goes back or forward. */
export async function showAddress(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const status = query.get("status") ?? "";
  const categoryId = query.get("categoryId") ?? "";
  const filter: Filter = {
    status: isTab(status) ? status : "",
    categoryId: faultOfCategory(categoryId) === undefined ? categoryId.trim() : "",
    name: query.get("name") ?? "",
  };
  batch(() => {
    typed.value = filter;
    filterFault.value = undefined;
  });
  const id = Number(query.get("animal")) || undefined;
  if (id === undefined) closeAnimal();
  else openAnimal(id);
  const isListed = !hasNothing.value && isSame(filter, wanted.value);
  if (!isListed) await loadAnimals(filter);
}

function isSame(one: Filter, other: Filter): boolean {
  return addressOf(one) === addressOf(other);
}

/** The address of the page that shows this. */
export function addressOf(filter: Filter, id?: number): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  if (id !== undefined) query.set("animal", String(id));
  const search = query.toString();
  return search === "" ? location.pathname : `?${search}`;
}

/** Lists the animals of a tab, or all. Typed text stays, unless the change replaces it. */
export async function showList(change: Partial<Filter>): Promise<void> {
  const filter = { ...wanted.value, ...change };
  history.pushState(null, "", addressOf(filter));
  batch(() => {
    typed.value = { ...typed.value, ...change };
    filterFault.value = faultOfCategory(typed.value.categoryId);
  });
  scrollTo(0, 0);
  await attempt(() => loadAnimals(filter));
}

export function showAllAnimals(): Promise<void> {
  return showList(NO_FILTER);
}

/** Lists the animals that the reader searches for. A faulty category changes no list, and its field says why. */
export async function showTyped(): Promise<void> {
  // The reader has opened an animal meanwhile. Its page has another address.
  if (animalId.value !== undefined) return;
  const { name, categoryId } = typed.value;
  const filter = { ...wanted.value, name, categoryId: categoryId.trim() };
  filterFault.value = faultOfCategory(categoryId);
  if (filterFault.value !== undefined || isSame(filter, wanted.value)) return;
  // Typing adds no step to the history of the browser, so one step back ends the search.
  history.replaceState(null, "", addressOf(filter));
  scrollTo(0, 0);
  await attempt(() => loadAnimals(filter));
}

function faultOfCategory(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const category = FIELDS.find(({ name }) => name === "categoryId");
  const parsed = category?.parse(text);
  return parsed === undefined || parsed.isSound ? undefined : parsed.fault;
}

export function showAnimal(id: number): void {
  history.pushState({ isFromList: animalId.value === undefined }, "", addressOf(wanted.value, id));
  openAnimal(id);
}

/** Shows another animal in place of one, so that one step back still is the list. */
export function showOtherAnimal(id: number): void {
  history.replaceState(history.state, "", addressOf(wanted.value, id));
  openAnimal(id);
}

function openAnimal(id: number): void {
  if (animalId.value === undefined) scrollOfList = scrollY;
  animalId.value = id;
  scrollTo(0, 0);
}

/** Goes back to the list, which is where it was. */
export function showListAgain(): void {
  if (history.state?.isFromList) {
    history.back();
    return;
  }
  history.pushState(null, "", addressOf(wanted.value));
  closeAnimal();
}

function closeAnimal(): void {
  if (animalId.value === undefined) return;
  animalId.value = undefined;
  afterDraw(() => {
    scrollTo(0, scrollOfList);
    shownAgain.value++;
    restoreFocus();
  });
}

/** Handles a click on a link that stays on the page. The browser handles a click that opens a new tab. */
export function onFollow(action: () => void): (event: MouseEvent) => void {
  return (event) => {
    const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (opensElsewhere) return;
    event.preventDefault();
    action();
  };
}
