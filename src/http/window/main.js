// Starts the page: opens the store, and draws the page after each change of its state.

import { keepCounts, loadAnimals, loadMore } from "./animals.js";
import { measureList } from "./animal_list.js";
import { write } from "./api.js";
import { render } from "./elements.js";
import { follow, loadLastDay } from "./feed.js";
import { Page } from "./page.js";
import { attempt, keepKey, takeKey } from "./session.js";
import { drawWith, redraw, setState, state } from "./state.js";

drawWith(draw);
addEventListener("DOMContentLoaded", start);
addEventListener("hashchange", () => location.reload());
addEventListener("resize", redraw);
addEventListener("scroll", onScroll);

function start() {
  state.message = history.state?.message;
  const apiKey = takeKey();
  if (apiKey) attempt(() => openStore(apiKey));
  else redraw();
}

/** Reads everything, then follows the store. */
async function openStore(apiKey) {
  keepKey(apiKey);
  const [mayWrite] = await Promise.all([keyMayWrite(), loadAnimals()]);
  setState({ mayWrite, openedAt: state.position });
  attempt(follow);
  attempt(keepCounts);
  attempt(loadLastDay);
}

/** There is no animal 0, and the patch is empty, so this request writes nothing. */
async function keyMayWrite() {
  try {
    await write("PATCH", "pets/0", {});
    return true;
  } catch (error) {
    return error.status !== 403;
  }
}

/** If the control that had the focus is gone, another one in its row gets it. */
function draw() {
  const focusedRow = document.activeElement.closest("[data-id]");
  state.view = measureList();
  render(Page(state, focusedRow?.dataset.id), document.body);
  const isFocusLost = document.activeElement === document.body;
  if (isFocusLost) focusedRow?.querySelector("input, button").focus({ preventScroll: true });
}

function onScroll() {
  redraw();
  const isNearEnd = scrollY > document.body.scrollHeight - 2 * innerHeight;
  if (isNearEnd) loadMore();
}
