// Names of animals as the page shows them.

import { html } from "./elements.js";

/** Anything but white space and characters that nobody can see. */
const VISIBLE = /[^\p{White_Space}\p{C}]/u;

/** The name as an element. Its writing direction does not affect the text around it. */
export function Name(name) {
  if (!VISIBLE.test(name)) return html`<bdi class="soft">(blank name)</bdi>`;
  return html`<bdi>${name}</bdi>`;
}

/** The name in a label that only assistive technology reads. */
export function spokenName(name) {
  return VISIBLE.test(name) ? name : "an animal with a blank name";
}
