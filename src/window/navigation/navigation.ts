/** The list, the animal or the categories that the page shows. The address always names them. */

import { batch, computed, signal } from "@preact/signals";
import { hasNothing, loadAnimals, wanted } from "../data/animals.ts";
import { findCategories } from "../data/categories.ts";
import { FIELDS } from "../data/fields.ts";
import { afterDraw, restoreFocus } from "../parts/focus.ts";
import { type Filter, isTab, NO_FILTER } from "../data/filter.ts";
import { attempt } from "../parts/messages.tsx";

/** The animal whose page is shown; `undefined` while the list is shown. */
export const animalId = signal<number | undefined>(undefined);

/** The pages that the address names instead of an animal, each with its title. */
export const PAGES = { categories: "Categories", activity: "Activity", removed: "Removed" };

type Page = keyof typeof PAGES;

/** The page of the navigation that is shown; `undefined` while the list or an animal is shown. */
export const shownPage = signal<Page | undefined>(undefined);

/** Whether the list is shown, and no other page. */
export const isListShown = computed(() =>
  animalId.value === undefined && shownPage.value === undefined
);

/** Whether the removed animals are shown, below the tabs of the list. */
export const isRemovedShown = computed(() => shownPage.value === "removed");

/** The texts in the fields of the filter. The list follows when the reader pauses. */
export const typed = signal<TypedFilter>({ categoryId: "", q: "" });

/** The fault of the text in the category field, which the list does not follow. */
export const filterFault = signal<string | undefined>(undefined);

/** Whether the last step of the browser's history is what is being typed: until the reader leaves the field, it stays one step. */
let isTyping = false;

type TypedFilter = Pick<Filter, "categoryId" | "q">;

/** Scroll position of the list when the page of an animal was opened, in pixels. */
let scrollOfList = 0;

/** Counts how often the list was shown again, in the place where it was. */
export const shownAgain = signal(0);

/** Shows what the address says: at the beginning, and when the reader goes back or forward. */
export async function showAddress(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const status = query.get("status") ?? "";
  const categoryId = query.get("categoryId") ?? "";
  const filter: Filter = {
    status: isTab(status) ? status : "",
    categoryId: categoryOf(categoryId).id ?? "",
    // An earlier version called it so.
    q: query.get("q") ?? query.get("name") ?? "",
    order: query.get("order") === "asc" ? "asc" : "",
  };
  endTyping();
  batch(() => {
    typed.value = filter;
    filterFault.value = undefined;
  });
  const id = Number(query.get("animal")) || undefined;
  const page = query.get("page") ?? "";
  if (isPage(page)) openPage(page);
  else if (id === undefined) closePage();
  else openAnimal(id);
  const isListed = !hasNothing.value && isSameFilter(filter, wanted.value);
  if (!isListed) await loadAnimals(filter);
}

function isPage(text: string): text is Page {
  return Object.hasOwn(PAGES, text);
}

function isSameFilter(one: Filter, other: Filter): boolean {
  return addressOf(one) === addressOf(other);
}

/** The address of the page that shows this. */
export function addressOf(filter: Filter, id?: number | Page): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  if (typeof id === "string") query.set("page", id);
  else if (id !== undefined) query.set("animal", String(id));
  const search = query.toString();
  return search === "" ? location.pathname : `?${search}`;
}

/** Lists the animals of a tab, or all. Typed text stays, unless the change replaces it. The same list is no further step back. */
export async function showList(change: Partial<Filter>): Promise<void> {
  const filter = { ...wanted.value, ...change };
  const isShown = isListShown.value && isSameFilter(filter, wanted.value);
  if (!isShown) history.pushState(null, "", addressOf(filter));
  endTyping();
  batch(() => {
    typed.value = { ...typed.value, ...change };
    filterFault.value = categoryOf(typed.value.categoryId).fault;
    shownPage.value = undefined;
    animalId.value = undefined;
  });
  scrollTo(0, 0);
  restoreFocus();
  await attempt("list", () => loadAnimals(filter));
}

export function showAllAnimals(): Promise<void> {
  return showList({ ...NO_FILTER, order: wanted.value.order });
}

export function turnOrder(): Promise<void> {
  return showList({ order: wanted.value.order === "asc" ? "" : "asc" });
}

/** Lists the animals that the reader searches for. A faulty category changes no list, and its field says why. */
export async function showTyped(): Promise<void> {
  // The reader has opened an animal meanwhile. Its page has another address.
  if (!isListShown.value) return;
  const { q, categoryId } = typed.value;
  const { id, fault } = categoryOf(categoryId);
  // The list of categories shows what the text may become.
  filterFault.value = findCategories(categoryId).length > 0 ? undefined : fault;
  const filter = { ...wanted.value, q, categoryId: id ?? wanted.value.categoryId };
  if (filterFault.value !== undefined || isSameFilter(filter, wanted.value)) return;
  if (isTyping) history.replaceState(null, "", addressOf(filter));
  else history.pushState(null, "", addressOf(filter));
  isTyping = true;
  scrollTo(0, 0);
  await attempt("list", () => loadAnimals(filter));
}

/** The reader has left a field of the filter, so a part of a category's name is a fault. */
export function leaveTyped(): void {
  showTyped();
  endTyping();
  filterFault.value = categoryOf(typed.value.categoryId).fault;
}

function endTyping(): void {
  isTyping = false;
}

/** The category that a typed text means: "" for all. */
function categoryOf(text: string): { id?: string; fault?: string } {
  if (text.trim() === "") return { id: "" };
  const category = FIELDS.find(({ name }) => name === "categoryId")!;
  const parsed = category.parse(text);
  return parsed.isSound ? { id: category.textOf(parsed.value) } : { fault: parsed.fault };
}

export function showAnimal(id: number): void {
  history.pushState({ isFromList: isListShown.value }, "", addressOf(wanted.value, id));
  openAnimal(id);
}

/** Shows another animal in place of one, so that one step back still is the list. */
export function showOtherAnimal(id: number): void {
  history.replaceState(history.state, "", addressOf(wanted.value, id));
  openAnimal(id);
}

function openAnimal(id: number): void {
  leaveList(id, undefined);
}

/** Shows the page of an animal, or another page. The list is found again where it was. */
function leaveList(id: number | undefined, page: Page | undefined): void {
  if (isListShown.value) scrollOfList = scrollY;
  animalId.value = id;
  shownPage.value = page;
  scrollTo(0, 0);
}

export function showPage(page: Page): void {
  if (shownPage.value === page) return;
  history.pushState({ isFromList: isListShown.value }, "", addressOf(wanted.value, page));
  openPage(page);
}

function openPage(page: Page): void {
  leaveList(undefined, page);
}

/** Goes back to the list, which is where it was. */
export function showListAgain(): void {
  if (history.state?.isFromList) {
    history.back();
    return;
  }
  history.pushState(null, "", addressOf(wanted.value));
  closePage();
}

function closePage(): void {
  if (isListShown.value) return;
  animalId.value = undefined;
  shownPage.value = undefined;
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
