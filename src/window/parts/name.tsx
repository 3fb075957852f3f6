/** Names of animals as the page shows them. */

import type { JSX } from "preact";

/** Anything but white space and characters that nobody can see. */
const VISIBLE = /[^\p{White_Space}\p{C}]/u;

/** Whether a reader sees nothing of a name. */
export function isBlank(name: string): boolean {
  return !VISIBLE.test(name);
}

/** A name as an element. Its writing direction does not affect the text around it. */
export function Name({ of }: { of: string }): JSX.Element {
  if (isBlank(of)) return <bdi class="soft">(blank name)</bdi>;
  return <bdi>{of}</bdi>;
}

/** A name in a label that only assistive technology reads. */
export function spokenName(name: string): string {
  return isBlank(name) ? "an animal with a blank name" : name;
}
