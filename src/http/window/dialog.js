// The one dialog of the page, which shows a question or a form.

import { html } from "./elements.js";
import { focusedRow, focusRow } from "./row_focus.js";
import { setState, state } from "./state.js";

/**
 * Asks a question. `onYes` is called if the reader chooses the button `yes`. The button `no` comes first and has the
 * focus, because what `yes` does may be final.
 */
export function ask({ text, ...dialog }) {
  const content = () => html`<p>${text}</p>`;
  showDialog({ ...dialog, content, isDangerous: true });
}

/**
 * Opens a dialog. Each draw calls `content` with the dialog. The button `no` closes the dialog; the button `yes`, which
 * may be missing, submits it to `onYes`. `onClose` is called when it is closed in any way.
 */
export function showDialog(dialog) {
  const row = focusedRow();
  setState({ dialog, problem: undefined });
  const element = dialogElement();
  element.onclose = () => {
    const { onClose } = state.dialog;
    setState({ dialog: undefined });
    onClose?.();
    // The row may have gone with the control that opened the dialog.
    if (row !== undefined && document.activeElement === document.body) focusRow(row);
  };
  element.showModal();
}

/** Changes the open dialog. */
export function changeDialog(change) {
  setState({ dialog: { ...state.dialog, ...change } });
}

export function closeDialog() {
  dialogElement().close();
}

/** The content of the open dialog. */
export function Dialog({ dialog }) {
  const { title, content, no, yes, onYes, isDangerous } = dialog;
  return html`
    <form method="dialog" onSubmit=${onYes} novalidate>
      <h2 id="title" class="title">${title}</h2>
      ${content(dialog)}
      <p class="buttons">
        <button type="button" onClick=${closeDialog}>${no}</button>
        ${yes && html`<button class=${isDangerous ? "danger" : "primary"}>${yes}</button>`}
      </p>
    </form>
  `;
}

function dialogElement() {
  return document.querySelector("dialog");
}
