// A field of a form, with what is wrong with it.

import { html } from "./elements.js";

/** `attributes` are those of the input. */
export function Field({ label, name, fault, ...attributes }) {
  const id = `fault-${name}`;
  return html`
    <label>
      <span>${label}</span>
      <input
        name=${name}
        autocomplete="off"
        aria-invalid=${fault !== undefined}
        aria-describedby=${id}
        ...${attributes}
      />
    </label>
    <p class="fault" id=${id} role="alert">${fault}</p>
  `;
}

/** Puts the focus on the first field of a form that has a fault. */
export function focusFault(form) {
  form?.querySelector("[aria-invalid=true]")?.focus();
}
