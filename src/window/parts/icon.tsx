/** An icon of a button. The button has a label, so assistive technology ignores the icon. */

import type { JSX } from "preact";

const PATHS = {
  add: "M10 4v12M4 10h12",
  back: "M12 4 6 10l6 6",
  check: "m4 10.5 4 4 8-9",
  close: "m5 5 10 10M15 5 5 15",
  edit: "m4 13-.5 3.5L7 16l8.5-8.5-3-3L4 13Z",
  filter: "M4 6h12M6.5 10h7M9 14h2",
  menu: "M4 6h12M4 10h12M4 14h12",
  more: "M4 9.5h1v1H4ZM9.5 9.5h1v1h-1ZM15 9.5h1v1h-1Z",
  next: "m8 4 6 6-6 6",
  open: "m6 8 4 4 4-4",
  remove: "M4 6h12M8 6V4h4v2m-6.5 0 .75 10.5h7.5L14.5 6",
  search: "M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm4-1.5 4 4",
};

export function Icon({ name }: { name: keyof typeof PATHS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
