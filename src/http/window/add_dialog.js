// The form that adds an animal.

import { newIdempotencyKey, write } from "./api.js";
import { closeDialog, showDialog } from "./dialog.js";
import { html, onSubmit } from "./elements.js";
import { attempt } from "./session.js";
import { setState, state } from "./state.js";
import { StatusOptions } from "./status_options.js";

export function showAddDialog() {
  // A second click sends the same key, so it adds nothing.
  const headers = { "idempotency-key": newIdempotencyKey() };
  const dialog = {
    title: "Add an animal",
    content: Fields,
    no: "Cancel",
    yes: "Save",
    onYes: onSubmit(save),
  };
  showDialog(dialog);

  async function save({ name, categoryId, status }) {
    const pet = { name, categoryId, status: status || undefined };
    const added = await attempt(() => write("POST", "pets", pet, headers));
    if (added === undefined) return;
    // The reader may have opened another dialog meanwhile.
    if (state.dialog === dialog) closeDialog();
    setState({ message: `${name} was added` });
  }
}

function Fields({ message }) {
  return html`
    <label>Name <input name="name" autocomplete="off" /></label>
    <label>Category <input name="categoryId" autocomplete="off" /></label>
    <label>Status <select name="status">${StatusOptions()}</select></label>
    <p role="alert">${message}</p>
  `;
}
