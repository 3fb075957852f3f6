// Changes and removals. If somebody else has changed the animal meanwhile, the reader decides.

import { updateList } from "./animals.js";
import { request, write } from "./api.js";
import { ask } from "./dialog.js";
import { html } from "./elements.js";
import { Name } from "./names.js";
import { attempt, showProblem } from "./session.js";
import { redraw, setState, state } from "./state.js";
import { describePet } from "./statuses.js";
import { showToast } from "./toast.js";

/** Changes an animal which the reader sees as `shown`. Resolves to whether it is done; `showError` shows why not. */
export function changeAnimal(shown, patch, showError) {
  return carryOut(shown, patch, {
    eventType: "PetUpdated",
    done: "was changed",
    yes: "Change anyway",
    send: (path, condition) => write("PATCH", path, patch, condition),
    repeat: (theirs) => changeAnimal(theirs, patch, showError),
    showError,
  });
}

/** Removes an animal, after a question. */
export function askToRemove(pet) {
  ask({
    title: html`Remove ${Name(pet.name)}?`,
    text: "It cannot be brought back.",
    no: "Keep",
    yes: "Remove",
    onYes: () => removeAnimal(pet),
  });
}

function removeAnimal(shown) {
  return carryOut(shown, {}, {
    eventType: "PetRemoved",
    done: "was removed",
    yes: "Remove anyway",
    send: (path, condition) => write("DELETE", path, undefined, condition),
    repeat: removeAnimal,
  });
}

/** While the animal is being changed, `patch` is what it gets. */
async function carryOut(shown, patch, action) {
  const { id, name } = shown;
  if (state.busy.has(id)) return false;
  state.busy.set(id, patch);
  redraw();
  const outcome = await attempt(async () => {
    try {
      return await writeUnlessChanged(shown, action);
    } finally {
      state.busy.delete(id);
    }
  }, (error) => showFailure(error, shown, action));
  if (outcome === undefined) return false;
  const { theirs } = outcome;
  if (theirs === undefined) {
    showToast(html`${Name(name)} ${action.done}`);
    return true;
  }
  ask({
    title: "Somebody else changed this animal",
    text: html`It is now ${Name(theirs.name)}, ${describePet(theirs)}.`,
    no: "Keep theirs",
    yes: action.yes,
    onYes: () => action.repeat(theirs),
  });
  return true;
}

/**
 * Writes only if the animal still is as the reader saw it. Resolves to `{ theirs: undefined }` if it was, otherwise to
 * the animal as it is now.
 */
async function writeUnlessChanged(shown, { eventType, send }) {
  const path = `pets/${shown.id}`;
  for (;;) {
    const { body: now, headers } = await request(path);
    if (JSON.stringify(now) !== JSON.stringify(shown)) return { theirs: now };
    const listed = state.pets.get(now.id);
    try {
      const { body } = await send(path, { "if-match": headers.get("etag") });
      // If the list has another pet by now, the stream has brought this change or a later one.
      const isListOlder = state.pets.get(now.id) === listed;
      if (isListOlder) updateList([{ type: eventType, data: body ?? now }]);
      return { theirs: undefined };
    } catch (error) {
      // With 412, somebody changed the animal after the read.
      if (error.status !== 412) throw error;
    }
  }
}

function showFailure(error, shown, { showError = showProblem }) {
  if (error.status !== 404) {
    showError(error);
    return;
  }
  updateList([{ type: "PetRemoved", data: shown }]);
  setState({ problem: html`${Name(shown.name)} was removed by somebody else` });
}
