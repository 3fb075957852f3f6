// Starts the page: opens the store, and draws the page after each change of its state.

import { loadMore } from "./animals.js";
import { measureList } from "./animal_list.js";
import { request } from "./api.js";
import { keepCounts } from "./counts.js";
import { ask } from "./dialog.js";
import { render } from "./elements.js";
import { follow, loadLastDay } from "./feed.js";
import { showAddress } from "./navigation.js";
import { Page } from "./page.js";
import { focusedRow, keepFocus } from "./row_focus.js";
import { attempt, keepKey, restart, run, takeKeys } from "./session.js";
import { drawWith, redraw, setState, state } from "./state.js";

/** How often the page is drawn again, because its relative times change. */
const REDRAW_MS = 30_000;

drawWith(draw);
addEventListener("DOMContentLoaded", start);
addEventListener("hashchange", () => location.reload());
addEventListener("popstate", () => attempt(showAddress));
addEventListener("resize", redraw);
addEventListener("scroll", onScroll);
setInterval(redraw, REDRAW_MS);

function start() {
  // The list is where this page puts it, and not where the browser thinks it was.
  history.scrollRestoration = "manual";
  const { apiKey, other, problem } = takeKeys();
  const keyProblem = history.state?.message ?? problem;
  if (apiKey === undefined) {
    setState({ keyProblem });
    return;
  }
  keepKey(apiKey);
  setState({ problem });
  if (other === undefined) run(openStore);
  else askForKey(other);
}

/** Until the reader has answered, the page uses neither key: that of the tab may be an old one, which is refused. */
function askForKey(other) {
  let isReplaced = false;
  ask({
    title: "Use the key in the address?",
    text:
      "This tab already has another API key. If you use the one in the address, the tab forgets its own.",
    no: "Keep the key of this tab",
    yes: "Use the other key",
    onYes: () => {
      isReplaced = true;
      restart({ apiKey: other });
    },
    onClose: () => {
      if (!isReplaced) run(openStore);
    },
  });
}

/** Reads everything, then follows the store. */
async function openStore() {
  const [{ body: key }] = await Promise.all([request("key"), showAddress()]);
  setState({ key, openedAt: state.position });
  run(follow);
  run(keepCounts);
  run(loadLastDay);
}

function draw() {
  state.view = measureList();
  keepFocus(() => render(Page(state, focusedRow()?.id), document.body));
  const name = state.animal?.pet?.name;
  document.title = name === undefined ? "Animal Store" : `${name} – Animal Store`;
}

function onScroll() {
  redraw();
  const isNearEnd = scrollY > document.body.scrollHeight - 2 * innerHeight;
  if (isNearEnd && state.animal === undefined) loadMore();
}
