// A sentence about what was done, which disappears on its own.

import { setState } from "./state.js";

const SHOWN_MS = 4_000;

let hiding;

/** `content` is a text, or an element. */
export function showToast(content) {
  clearTimeout(hiding);
  setState({ toast: content });
  hiding = setTimeout(() => setState({ toast: undefined }), SHOWN_MS);
}
