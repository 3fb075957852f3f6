/** Starts the page: signs in, reads the store, and follows it. */

import { computed, effect } from "@preact/signals";
import { render } from "preact";
import { followActivity, forgetActivity } from "./activity/activity.ts";
import { shownName } from "./animal/animal_page.tsx";
import { followAnimals, forgetAnimals, loadAnimals, wanted } from "./data/animals.ts";
import { App } from "./app.tsx";
import { forgetUsedCategories } from "./data/categories.ts";
import { categoryCountsQuery, forgetCategoryCounts } from "./data/category_counts.ts";
import { categoriesQuery } from "./data/categories_query.ts";
import { followChanges } from "./data/changers.ts";
import { countsQuery, searchCountsQuery } from "./data/counts.ts";
import { categoryIdOf, petIdOf } from "./data/events.ts";
import { follow, onEvents, position } from "./data/feed.ts";
import { loadKeyInfo } from "./data/key_info.ts";
import { stopUndoElsewhere } from "./parts/keys.ts";
import { attempt, showProblem } from "./parts/messages.tsx";
import { isRemovedShown, PAGES, showAddress, shownPage } from "./navigation/navigation.ts";
import { keepTexts } from "./parts/translated_text.ts";
import { forgetRemoved, removedQuery } from "./data/removed.ts";
import { addressProblem, apiKey, beginSession } from "./data/session.ts";
import { hasUnsaved } from "./data/unsaved.ts";

// This page restores the place in the list, because the browser would restore a wrong one.
history.scrollRestoration = "manual";
addEventListener("hashchange", () => location.reload());
addEventListener("keydown", stopUndoElsewhere);
addEventListener("popstate", () => attempt("list", showAddress));
effect(() => {
  const name = shownPage.value === undefined ? shownName.value : PAGES[shownPage.value];
  document.title = name === undefined ? "Animal Store" : `${name} – Animal Store`;
});
onEvents((events) => {
  const has = (idOf: typeof petIdOf | typeof categoryIdOf) =>
    events.some((event) => idOf(event) !== undefined);
  followActivity(events);
  followChanges(events);
  followAnimals(events).catch(showProblem);
  if (has(petIdOf)) {
    countsQuery.refresh().catch(showProblem);
    countCategoriesIfShown();
    if (isRemovedShown.value) removedQuery.refresh().catch(showProblem);
  }
  if (has(categoryIdOf)) followCategories().catch(showProblem);
});
effect(countCategoriesIfShown);
/** The search and the category, which all tabs share. Those of the address are counted after the list was read. */
const search = computed(() => `${wanted.value.q}/${wanted.value.categoryId}`);
search.subscribe(() => {
  if (position.peek() !== undefined) searchCountsQuery.refresh().catch(showProblem);
});
apiKey.subscribe((key) => {
  if (key !== undefined) loadKeyInfo().catch(showProblem);
});
beginSession(() => hasUnsaved.value);
// Until now, the reader has seen the skeleton of the page.
document.body.replaceChildren();
render(<App />, document.body);
keepTexts(document.body);
// The list has names at once. They are read again when the page follows the store.
categoriesQuery.refresh().catch(showProblem);
await attempt("list", showAddress);
if (addressProblem.value !== undefined) showProblem(new Error(addressProblem.value));
readRest().catch(showProblem);
await follow(readAgain);

/** A search also finds names of categories. */
async function followCategories(): Promise<void> {
  await categoriesQuery.refresh();
  if (wanted.value.q === "") return;
  await attempt("list", () => loadAnimals({ ...wanted.value }));
  await countsQuery.refresh();
}

function countCategoriesIfShown(): void {
  if (shownPage.value === "categories") categoryCountsQuery.refresh().catch(showProblem);
}

/** Reads what the list does not show. */
async function readRest(): Promise<void> {
  await Promise.all([
    categoriesQuery.refresh(),
    countsQuery.refresh(),
  ]);
}

/** The service has another log, so the page reads everything again. */
async function readAgain(): Promise<void> {
  position.value = undefined;
  forgetActivity();
  forgetAnimals();
  forgetRemoved();
  if (isRemovedShown.value) removedQuery.refresh().catch(showProblem);
  forgetUsedCategories();
  forgetCategoryCounts();
  countCategoriesIfShown();
  await attempt("list", async () => {
    await loadAnimals({ ...wanted.value });
    await readRest();
  });
}
