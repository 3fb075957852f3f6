// The inputs of an edit, in the row of its animal.

import { changeAnimal } from "./change_animal.js";
import { changeEdit, endEdit, typeInEdit } from "./edits.js";
import { html, onSubmit } from "./elements.js";
import { focusFault } from "./field.js";
import { Name, spokenName } from "./names.js";
import { categoryOf, faultsOf, faultsOfError } from "./pet_fields.js";
import { showProblem } from "./session.js";

/** Why the animal is not in the list any more. */
const REASONS = {
  removed: "was removed by somebody else",
  elsewhere: "is not in this list any more",
};

export function EditRow(edit) {
  const { base: { id, name }, left } = edit;
  const isRemoved = left === "removed";
  const onKeyDown = ({ key }) => {
    if (key === "Escape") endEdit(id);
  };
  return html`
    <div role="cell">
      <form novalidate onSubmit=${onSubmit(() => save(edit))} onKeyDown=${onKeyDown}>
        ${Input(edit, "name", `Name of ${spokenName(name)}`)}
        ${Input(edit, "categoryId", `Category of ${spokenName(name)}`)}
        <span class="buttons">${Buttons(id, isRemoved)}</span>
        ${left && html`<p class="fault" role="alert">${Name(name)} ${REASONS[left]}</p>`}
      </form>
    </div>
  `;
}

/** Nobody can save a change of an animal that was removed. */
function Buttons(id, isRemoved) {
  const end = () => endEdit(id);
  if (isRemoved) return html`<button type="button" onClick=${end}>Close</button>`;
  return html`
    <button type="button" onClick=${end}>Cancel</button>
    <button class="primary">Save</button>
  `;
}

function Input({ base: { id }, fields, faults }, field, label) {
  const faultId = `fault-${id}-${field}`;
  return html`
    <span class="field">
      <input
        name=${field}
        class=${field}
        autocomplete="off"
        aria-label=${label}
        aria-invalid=${faults[field] !== undefined}
        aria-describedby=${faultId}
        value=${fields[field]}
        onInput=${({ target }) => typeInEdit(id, field, target.value)}
      />
      <span class="fault" id=${faultId} role="alert">${faults[field]}</span>
    </span>
  `;
}

async function save({ base, fields }) {
  const { id } = base;
  const faults = faultsOf(fields);
  if (Object.keys(faults).length > 0) {
    showFaults(id, faults);
    return;
  }
  const patch = { name: fields.name, categoryId: categoryOf(fields.categoryId) };
  const isDone = await changeAnimal(base, patch, (error) => {
    const named = faultsOfError(error);
    if (Object.keys(named).length > 0) showFaults(id, named);
    else showProblem(error);
  });
  if (isDone) endEdit(id);
}

function showFaults(id, faults) {
  changeEdit(id, { faults });
  focusFault(document.querySelector(`[data-id="${id}"]`));
}
