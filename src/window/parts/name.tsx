/** Names of animals as the page shows them. */

import type { JSX } from "preact";
import { isBlank } from "./blank.ts";

/** A name as an element. Its writing direction does not affect the text around it. */
export function Name({ of }: { of: string }): JSX.Element {
  if (isBlank(of)) return <bdi class="soft">(blank name)</bdi>;
  return <bdi translate={false}>{of}</bdi>;
}

/** A name in a label that only assistive technology reads. */
export function spokenName(name: string): string {
  return isBlank(name) ? "an animal with a blank name" : name;
}
