/** Starts the page: signs in, reads the store, and follows it. */

import { effect } from "@preact/signals";
import { render } from "preact";
import { countEvents, forgetDay, loadLastDay } from "./activity.ts";
import { shownName } from "./animal_page.tsx";
import { loadAnimals, updateList, wanted } from "./animals.ts";
import { App } from "./app.tsx";
import { forgetCategories, loadCategories, updateCategories } from "./categories.ts";
import { countTabs, updateCounts } from "./counts.ts";
import { follow, forgetEvents, onEvents, position } from "./feed.ts";
import { loadKeyInfo } from "./key_info.ts";
import { attempt, problem, showProblem } from "./messages.tsx";
import { isCategoriesShown, showAddress } from "./navigation.ts";
import { listenToShortcuts } from "./shortcuts.tsx";
import { addressProblem, apiKey, beginSession } from "./session.ts";

// This page restores the place in the list, because the browser would restore a wrong one.
history.scrollRestoration = "manual";
addEventListener("hashchange", () => location.reload());
addEventListener("popstate", () => attempt(showAddress));
effect(() => {
  const name = isCategoriesShown.value ? "Categories" : shownName.value;
  document.title = name === undefined ? "Animal Store" : `${name} – Animal Store`;
});
onEvents((events) => {
  updateList(events);
  updateCategories(events);
  updateCounts(events);
  countEvents(events);
});
apiKey.subscribe((key) => {
  if (key !== undefined) loadKeyInfo().catch(showProblem);
});
// Until now, the reader has seen the skeleton of the page.
document.body.replaceChildren();
render(<App />, document.body);
listenToShortcuts();
await beginSession();
// The list has names at once. They are read again when the page follows the store.
loadCategories().catch(showProblem);
await attempt(showAddress);
if (addressProblem.value !== undefined) problem.value = addressProblem.value;
readRest().catch(showProblem);
await follow(readAgain);

/** Reads what the list does not show. */
async function readRest(): Promise<void> {
  await Promise.all([loadCategories(), countTabs(), loadLastDay(position.value ?? "")]);
}

/** The service has another log, so the page reads everything again. */
async function readAgain(): Promise<void> {
  forgetEvents();
  forgetDay();
  forgetCategories();
  await attempt(async () => {
    await loadAnimals({ ...wanted.value });
    await readRest();
  });
}
