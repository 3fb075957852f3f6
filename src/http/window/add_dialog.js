// The form that adds an animal.

import { newIdempotencyKey, write } from "./api.js";
import { changeDialog, closeDialog, showDialog } from "./dialog.js";
import { faultsAfter } from "./edits.js";
import { html, onSubmit } from "./elements.js";
import { Field, focusFault } from "./field.js";
import { Name } from "./names.js";
import { categoryOf, faultsOf, faultsOfError, messageOf } from "./pet_fields.js";
import { attempt } from "./session.js";
import { state } from "./state.js";
import { StatusOptions } from "./status_select.js";
import { showToast } from "./toast.js";

export function showAddDialog() {
  // A second click sends the same key, so it adds nothing.
  const headers = { "idempotency-key": newIdempotencyKey() };
  const onYes = onSubmit(save);
  showDialog({
    title: "Add an animal",
    content: Fields,
    no: "Cancel",
    yes: "Save",
    onYes,
    faults: {},
  });
  const isOpen = () => state.dialog?.onYes === onYes;

  async function save({ name, categoryId, status }) {
    const faults = faultsOf({ name, categoryId });
    showFaults(faults);
    if (Object.keys(faults).length > 0) return;
    const pet = { name, categoryId: categoryOf(categoryId), status: status || undefined };
    const added = await attempt(() => write("POST", "pets", pet, headers), showError);
    if (added === undefined) return;
    // The reader may have opened another dialog meanwhile.
    if (isOpen()) closeDialog();
    showToast(html`${Name(name)} was added`);
  }

  function showError(error) {
    if (!isOpen()) return;
    const faults = faultsOfError(error);
    const isNamed = Object.keys(faults).length > 0;
    showFaults(faults, isNamed ? undefined : messageOf(error));
  }
}

function showFaults(faults, problem) {
  changeDialog({ faults, problem });
  focusFault(document.querySelector("dialog"));
}

function Fields({ faults, problem }) {
  const onInput = ({ target: { name, value } }) => {
    changeDialog({ faults: faultsAfter(faults, name, value), problem: undefined });
  };
  return html`
    <div class="fields" onInput=${onInput}>
      ${Field({ label: "Name", name: "name", fault: faults.name })}
      ${Field({
        label: "Category",
        name: "categoryId",
        fault: faults.categoryId,
        inputmode: "numeric",
      })}
      <label><span>Status</span><select name="status">${StatusOptions()}</select></label>
      <p class="fault" role="alert">${problem}</p>
    </div>
  `;
}
