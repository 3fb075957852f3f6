// One animal in the list: its fields and controls, or the inputs of an edit.

import { changeAnimal, removeAnimal } from "./animals.js";
import { showDetailDialog } from "./detail_dialog.js";
import { ask } from "./dialog.js";
import { html, onSubmit } from "./elements.js";
import { attempt } from "./session.js";
import { redraw, setState, state } from "./state.js";
import { describePet, STATUS_LABELS } from "./statuses.js";
import { StatusOptions } from "./status_options.js";

export function AnimalRow(pet, { busy, mayWrite }) {
  const { id, name, categoryId, status = "" } = pet;
  return html`
    <button class="name" onClick=${() => showDetailDialog(pet)}>${name}</button>
    <span>Category ${categoryId}</span>
    ${mayWrite
      ? Controls(pet, busy.get(id))
      : html`<span class=${status}>${STATUS_LABELS[status]}</span>`}
  `;
}

/** While the animal is being changed, `patch` is what it gets. */
function Controls(pet, patch) {
  const { status = "" } = pet;
  const shownStatus = patch?.status === undefined ? status : patch.status;
  const onPick = ({ target }) => change(pet, { status: target.value || null });
  return html`
    <select aria-label="Status" class=${status} value=${shownStatus} onChange=${onPick}>
      ${StatusOptions()}
    </select>
    <button onClick=${() => beginEdit(pet)}>Edit</button>
    <button onClick=${() => askToRemove(pet)}>Remove</button>
  `;
}

/** Inputs for the name and the category of an animal, which was `base` when the edit began. */
export function EditRow(base) {
  const onKeyDown = ({ key }) => {
    if (key === "Escape") endEdit(base);
  };
  return html`
    <form onSubmit=${onSubmit((fields) => change(base, fields))} onKeyDown=${onKeyDown}>
      <input name="name" aria-label="Name" defaultValue=${base.name} />
      <input name="categoryId" aria-label="Category" defaultValue=${base.categoryId} />
      <button class="primary">Save</button>
      <button type="button" onClick=${() => endEdit(base)}>Cancel</button>
    </form>
  `;
}

function beginEdit(pet) {
  state.edits.set(pet.id, pet);
  redraw();
}

function endEdit(pet) {
  state.edits.delete(pet.id);
  redraw();
}

function askToRemove(pet) {
  ask({
    title: `Remove ${pet.name}?`,
    text: "It cannot be brought back.",
    no: "Keep",
    yes: "Remove",
    onYes: () => remove(pet),
  });
}

function change(pet, patch) {
  return write(pet, patch, {
    send: () => changeAnimal(pet, patch),
    done: "was changed",
    yes: "Change anyway",
    repeat: (theirs) => change(theirs, patch),
  });
}

function remove(pet) {
  return write(pet, {}, {
    send: () => removeAnimal(pet),
    done: "was removed",
    yes: "Remove anyway",
    repeat: remove,
  });
}

/** Carries out a change or a removal. If the animal is not any more as `pet` shows it, asks the reader. */
async function write(pet, patch, { send, done, yes, repeat }) {
  if (state.busy.has(pet.id)) return;
  state.busy.set(pet.id, patch);
  redraw();
  const outcome = await attempt(async () => {
    try {
      return await send();
    } finally {
      state.busy.delete(pet.id);
    }
  });
  const hasFailed = outcome === undefined;
  if (hasFailed) return;
  state.edits.delete(pet.id);
  const { theirs } = outcome;
  if (theirs === undefined) {
    setState({ message: `${pet.name} ${done}` });
    return;
  }
  ask({
    title: "Somebody else changed this animal",
    text: `It is now ${describePet(theirs)}.`,
    no: "Keep theirs",
    yes,
    onYes: () => repeat(theirs),
  });
}
