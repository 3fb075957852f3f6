// One animal in the list: its fields and its controls.

import { askToRemove, changeAnimal } from "./change_animal.js";
import { beginEdit } from "./edits.js";
import { html, onFollow } from "./elements.js";
import { Icon } from "./icons.js";
import { Name, spokenName } from "./names.js";
import { addressOfAnimal, showAnimal } from "./navigation.js";
import { StatusPill, StatusSelect } from "./status_select.js";

/** The name is the only tab stop of the row; `row_focus.js` reaches the other controls. */
export function AnimalRow(pet, { busy, key }) {
  const { id, name, categoryId, status = "" } = pet;
  const mayWrite = key?.readOnly === false;
  return html`
    <span role="cell" class="name">
      <a href=${addressOfAnimal(id)} title=${name} onClick=${onFollow(() => showAnimal(id))}>
        ${Name(name)}
      </a>
    </span>
    <span role="cell" class="number id">${id}</span>
    <span role="cell" class="number category" title=${categoryId}>${categoryId}</span>
    <span role="cell" class="status">
      ${mayWrite ? Status(pet, busy.get(id)) : StatusPill(status)}
    </span>
    <span role="cell" class="actions">${mayWrite && Actions(pet)}</span>
  `;
}

/** While the animal is being changed, `patch` is what it gets. The pill has the colour of the new status. */
export function Status(pet, patch, tabIndex = -1) {
  const { name, status = "" } = pet;
  const shownStatus = patch?.status === undefined ? status : patch.status ?? "";
  return StatusSelect({
    status: shownStatus,
    onPick: (picked) => changeAnimal(pet, { status: picked || null }),
    tabIndex,
    "aria-label": `Status of ${spokenName(name)}`,
    "aria-busy": patch !== undefined,
  });
}

function Actions(pet) {
  const name = spokenName(pet.name);
  return html`
    <button
      class="quiet"
      tabindex="-1"
      title="Edit"
      aria-label="Edit ${name}"
      onClick=${() => beginEdit(pet)}
    >
      ${Icon("edit")}
    </button>
    <button
      class="quiet"
      tabindex="-1"
      title="Remove"
      aria-label="Remove ${name}"
      onClick=${() => askToRemove(pet)}
    >
      ${Icon("remove")}
    </button>
  `;
}
