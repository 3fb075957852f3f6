/** The name of an animal as a link to its page. */

import type { JSX } from "preact";
import { wanted } from "../data/animals.ts";
import { Name } from "../parts/name.tsx";
import { addressOf, onFollow, showAnimal } from "./navigation.ts";

export function AnimalLink({ id, name }: { id: number; name: string }): JSX.Element {
  return (
    <a
      class="of-animal"
      href={addressOf(wanted.value, id)}
      onClick={onFollow(() => showAnimal(id))}
    >
      <Name of={name} />
    </a>
  );
}
