// Goes from the list to an animal and back, and from one filter to another. The address always says what is shown.

import { addressOf, readAddress } from "./address.js";
import { openAnimal } from "./animal_history.js";
import { loadAnimals } from "./animals.js";
import { faultOfCategory } from "./pet_fields.js";
import { focusRow } from "./row_focus.js";
import { attempt } from "./session.js";
import { setState, state } from "./state.js";
import { TAB_LABELS } from "./statuses.js";

/** Where the list was when the page of an animal was opened. */
let scrollOfList = 0;

/** Shows what the address says: at the beginning, and when the reader goes back or forward. */
export async function showAddress() {
  const { filter, animalId } = readAddress();
  if (!Object.hasOwn(TAB_LABELS, filter.status)) filter.status = "";
  if (faultOfFilter(filter) !== undefined) filter.categoryId = "";
  const isListed = state.openedAt !== undefined && addressOf({ filter }) === addressOf(state);
  setState({ typed: textsOf(filter), filterFault: undefined });
  if (animalId === undefined) closeAnimal();
  else showAnimalPage(animalId);
  if (!isListed) await loadAnimals(filter);
}

/** Lists the animals of a tab, or all. Typed text stays, unless the change replaces it. */
export function showList(change) {
  const filter = { ...state.filter, ...change };
  const typed = textsOf({ ...state.typed, ...change });
  history.pushState(null, "", addressOf({ filter }));
  setState({ typed, filterFault: faultOfFilter(typed) });
  scrollTo(0, 0);
  return attempt(() => loadAnimals(filter));
}

/** Lists the animals that the reader searches for. An invalid category changes no list, and its field says why. */
export function showTyped() {
  // The reader has opened an animal meanwhile. Its page has another address.
  if (state.animal !== undefined) return;
  const { name, categoryId } = state.typed;
  const filter = { ...state.filter, name, categoryId: categoryId.trim() };
  const filterFault = faultOfFilter(filter);
  setState({ filterFault });
  if (filterFault !== undefined) return;
  // Typing adds no step to the history of the browser, so one step back ends the search.
  history.replaceState(null, "", addressOf({ filter }));
  scrollTo(0, 0);
  attempt(() => loadAnimals(filter));
}

function faultOfFilter({ categoryId }) {
  return categoryId.trim() === "" ? undefined : faultOfCategory(categoryId);
}

function textsOf({ name, categoryId }) {
  return { name, categoryId };
}

export function addressOfAnimal(id) {
  return addressOf({ filter: state.filter, animalId: id });
}

export function showAnimal(id) {
  history.pushState({ isFromList: true }, "", addressOfAnimal(id));
  showAnimalPage(id);
}

function showAnimalPage(id) {
  if (state.animal === undefined) scrollOfList = scrollY;
  openAnimal(id);
  scrollTo(0, 0);
  document.getElementById("animal-title")?.focus();
}

/** Goes back to the list, which is where it was. */
export function showListAgain() {
  if (history.state?.isFromList) {
    history.back();
    return;
  }
  history.pushState(null, "", addressOf(state));
  closeAnimal();
}

function closeAnimal() {
  if (state.animal === undefined) return;
  const { id } = state.animal;
  setState({ animal: undefined });
  scrollTo(0, scrollOfList);
  setState({});
  focusRow({ id, row: 0 });
}
