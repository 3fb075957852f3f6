/** The link from another page to the list, where it was. */

import type { JSX } from "preact";
import { wanted } from "../data/animals.ts";
import { Icon } from "../parts/icon.tsx";
import { addressOf, onFollow, showListAgain } from "./navigation.ts";

export function BackLink(): JSX.Element {
  return (
    <a class="back" href={addressOf(wanted.value)} onClick={onFollow(showListAgain)}>
      <Icon name="back" /> All animals
    </a>
  );
}
