/** What the page draws otherwise on paper. */

import { signal } from "@preact/signals";
import { serviceTime } from "./clock.ts";

/** Whether the browser prints the page at the moment. */
export const isPrinting = signal(false);

addEventListener("beforeprint", () => isPrinting.value = true);
addEventListener("afterprint", () => isPrinting.value = false);

/** The date on paper, such as "30 November 2026". */
export function printedDate(): string {
  return new Date(serviceTime()).toLocaleDateString("en-GB", { dateStyle: "long" });
}
