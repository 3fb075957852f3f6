/** The button that turns the order of the animals: in the head of the ids, or in the menu of a list without columns. */

import type { ComponentChildren, JSX } from "preact";
import { wanted } from "./animals.ts";
import { Icon } from "./icon.tsx";
import { showList } from "./navigation.ts";

/** By default, the button says the order. */
export function OrderButton({ children }: { children?: ComponentChildren }): JSX.Element {
  const isAscending = wanted.value.order === "asc";
  const words = isAscending ? "Oldest first" : "Newest first";
  return (
    <button
      type="button"
      class={`sort ${isAscending ? "ascending" : ""}`}
      title={words}
      onClick={() => showList({ order: isAscending ? "" : "asc" })}
    >
      {children ?? words}
      <Icon name="open" />
    </button>
  );
}
