// The edits of rows. Typed text stays even if somebody else changes or removes the animal.

import { faultsOf } from "./pet_fields.js";
import { rowsOf } from "./rows.js";
import { redraw, setState, state } from "./state.js";

/**
 * `base` is the animal as it was when the edit began, `fields` is what the reader has typed, and `faults` is what is
 * wrong with it. If the animal is not in the list any more, `left` is "removed" or "elsewhere".
 */
export function beginEdit(base) {
  const { name, categoryId } = base;
  changeEdit(base.id, { base, fields: { name, categoryId }, faults: {}, left: undefined });
}

export function changeEdit(id, change) {
  state.edits.set(id, { ...state.edits.get(id), ...change });
  redraw();
}

export function endEdit(id) {
  state.edits.delete(id);
  setState({ order: rowsOf(state.pets, state.edits) });
}

/** Notes what the reader has typed. A fault disappears once it is corrected. */
export function typeInEdit(id, field, text) {
  const { fields, faults } = state.edits.get(id);
  changeEdit(id, {
    fields: { ...fields, [field]: text },
    faults: faultsAfter(faults, field, text),
  });
}

/** The faults after another text in one of the fields: only a field that had a fault can have one. */
export function faultsAfter(faults, field, text) {
  if (faults[field] === undefined) return faults;
  const { [field]: _, ...others } = faults;
  return { ...others, ...faultsOf({ [field]: text }) };
}

/** The edits when another list is loaded: those of animals that are in none of it stay without a row. */
export function editsInOtherList({ edits }) {
  const after = new Map(edits);
  for (const [id, edit] of edits) {
    if (edit.left === "elsewhere") after.set(id, { ...edit, left: undefined });
  }
  return after;
}

/** The edits after some more events, when the list shows the animals `pets`. */
export function editsAfter(events, pets, { edits, pets: petsBefore }) {
  const after = new Map(edits);
  for (const { type, data: { id } } of events) {
    const edit = edits.get(id);
    if (edit === undefined) continue;
    const wasShown = petsBefore.has(id) || edit.left !== undefined;
    const left = whyLeft(type, pets.has(id), wasShown);
    after.set(id, { ...edit, left });
  }
  return after;
}

function whyLeft(type, isListed, wasShown) {
  if (type === "PetRemoved") return "removed";
  if (isListed || !wasShown) return undefined;
  return "elsewhere";
}
