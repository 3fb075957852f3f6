// The one dialog of the page, which shows a question, a form or the details of an animal.

import { html } from "./elements.js";
import { setState } from "./state.js";

/** Asks a question. `onYes` is called if the reader chooses the button `yes`. */
export function ask({ title, text, no, yes, onYes }) {
  showDialog({ title, content: () => html`<p>${text}</p>`, no, yes, onYes });
}

/**
 * Opens a dialog. Each draw calls `content` with the state of the page. The button `no` closes the dialog; the button
 * `yes`, which may be missing, submits it to `onYes`. `detail` becomes that of the state.
 */
export function showDialog(dialog, detail) {
  setState({ dialog, detail, message: "" });
  const element = dialogElement();
  element.onclose = () => setState({ dialog: undefined, detail: undefined });
  element.showModal();
}

export function closeDialog() {
  dialogElement().close();
}

/** The content of the open dialog. */
export function Dialog(state) {
  const { title, content, no, yes, onYes } = state.dialog;
  return html`
    <form method="dialog" onSubmit=${onYes}>
      <h2 id="title">${title}</h2>
      ${content(state)}
      ${yes && html`
        <button class="primary">${yes}</button>
      `}
      ${" "}
      <button type="button" onClick=${closeDialog}>${no}</button>
    </form>
  `;
}

function dialogElement() {
  return document.querySelector("dialog");
}
