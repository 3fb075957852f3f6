// Icons of buttons. Each button has a label, so assistive technology ignores its icon.

import { html } from "./elements.js";

const PATHS = {
  back: "M12 4 6 10l6 6",
  close: "m5 5 10 10M15 5 5 15",
  edit: "m4 13-.5 3.5L7 16l8.5-8.5-3-3L4 13Z",
  remove: "M4 6h12M8 6V4h4v2m-6.5 0 .75 10.5h7.5L14.5 6",
};

export function Icon(name) {
  return html`
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d=${PATHS[name]} />
    </svg>
  `;
}
