import { html } from "./elements.js";
import { STATUS_LABELS } from "./statuses.js";

/** The choices of a status. */
export function StatusOptions() {
  return Object.entries(STATUS_LABELS).map(([status, label]) =>
    html`<option value=${status}>${label}</option>`
  );
}
