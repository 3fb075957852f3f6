/** A list of a few choices: that of the browser. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ControlAttributes } from "./control_props.ts";

/** A choice of a list, whose choices have different texts. */
export interface Choice {
  text: string;
  label: string;
  /** How the list shows the choice; by default, its label. */
  drawn?: JSX.Element;
  title?: string;
}

interface SelectProps extends ControlAttributes {
  choices: readonly Choice[];
  /** The text of the current choice. */
  text: string;
  onText: (text: string) => void;
  /** Whether it is in the list of animals, where the arrow keys go to another animal. */
  isInGrid?: boolean;
}

export function Select(props: SelectProps): JSX.Element {
  const { choices, text, onText, isInGrid = false, readOnly, class: looks, ...attributes } = props;
  // Most rows are only scrolled past.
  const [isReached, setIsReached] = useState(!isInGrid);
  const drawn = isReached ? choices : choices.filter((it) => it.text === text);
  return (
    <select
      {...attributes}
      class={isReached ? looks : `${looks} unreached`}
      tabIndex={isInGrid ? -1 : 0}
      aria-readonly={readOnly}
      value={text}
      onPointerEnter={() => setIsReached(true)}
      onFocus={() => setIsReached(true)}
      onKeyDown={(event) => onKey(event, isInGrid)}
      onChange={({ currentTarget }) => {
        const picked = currentTarget.value;
        // It shows the choice as soon as the page has taken it.
        currentTarget.value = text;
        if (!readOnly) onText(picked);
      }}
    >
      {drawn.map((it) => <option key={it.text} value={it.text}>{it.drawn ?? it.label}</option>)}
    </select>
  );
}

/** The open list has its keys for itself. A closed one in the list of animals opens with Enter, and letters choose. */
function onKey(event: KeyboardEvent, isInGrid: boolean): void {
  const select = event.currentTarget as HTMLSelectElement;
  const isOpen = CSS.supports("selector(:open)") && select.matches(":open");
  if (isOpen) event.stopPropagation();
  if (isOpen || !isInGrid || event.key !== "Enter") return;
  event.preventDefault();
  select.showPicker();
}
