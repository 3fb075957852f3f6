/** A button with a list of a few choices. The space bar chooses, too, and a letter goes to the next choice with it. */

import type { ComponentChildren, JSX } from "preact";
import type { ControlAttributes } from "./control_props.ts";
import { Icon } from "./icon.tsx";
import { type Choice, useListBox } from "./list_box.tsx";

interface SelectProps extends ControlAttributes {
  choices: readonly Choice[];
  /** The text of the current choice; `undefined` if there is none. */
  text: string | undefined;
  onText: (text: string) => void;
  /** The content of the button; by default, the current choice. */
  children?: ComponentChildren;
  /** Whether it is in the list of animals, where the arrow keys alone go to another animal. */
  isInGrid?: boolean;
}

export function Select(props: SelectProps): JSX.Element {
  const { choices, text, onText, children, isInGrid = false, readOnly, ...attributes } = props;
  const list = useListBox<HTMLButtonElement>({
    choices,
    current: text,
    isLocked: readOnly === true,
    onPick: onText,
  });
  const current = choices.findIndex((choice) => choice.text === text);
  const open = () => list.goTo(choices[Math.max(0, current)]?.text);
  const onOpenKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey } = event;
    // The browser or the page has these keys, such as Ctrl+R and Ctrl+Z.
    if (ctrlKey || metaKey) return;
    const to = placeOf(key, choices, list.place);
    // A letter may be a shortcut of the page, too.
    event.stopPropagation();
    if (to !== undefined) list.goTo(choices[to].text);
    else if (key !== " ") {
      list.onListKey(event);
      return;
    }
    event.preventDefault();
  };
  /** Firefox clicks the button when the space bar is released, also if the page has handled its press. */
  const onKeyUp = (event: KeyboardEvent) => {
    if (event.key !== " " || !list.isOpen) return;
    event.preventDefault();
    list.pick();
  };
  const onClosedKey = (event: KeyboardEvent) => {
    const isArrow = event.key === "ArrowDown" || event.key === "ArrowUp";
    const isOpening = isArrow && (event.altKey || !isInGrid);
    if (!isOpening) return;
    event.preventDefault();
    event.stopPropagation();
    open();
  };
  return (
    <>
      <button
        type="button"
        class="opens"
        tabIndex={isInGrid ? -1 : 0}
        {...attributes}
        {...list.attributes}
        aria-readonly={readOnly}
        onClick={() => list.isOpen ? list.close() : open()}
        onKeyDown={list.isOpen ? onOpenKey : onClosedKey}
        onKeyUp={onKeyUp}
        onBlur={list.close}
      >
        {children ?? choices[current]?.drawn ?? <bdi>{choices[current]?.label}</bdi>}
        <Icon name="open" />
      </button>
      {list.box}
    </>
  );
}

/** The place to which a key goes; `undefined` if it goes to none by itself. */
function placeOf(key: string, choices: readonly Choice[], place: number): number | undefined {
  if (key === "Home") return 0;
  if (key === "End") return choices.length - 1;
  const isLetter = [...key].length === 1 && key !== " ";
  if (!isLetter) return undefined;
  const places = [...choices.keys()].filter((it) => startsWith(choices[it], key));
  return places.find((it) => it > place) ?? places[0];
}

function startsWith({ label }: Choice, letter: string): boolean {
  return label.toLowerCase().startsWith(letter.toLowerCase());
}
