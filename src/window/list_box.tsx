/**
 * The list that opens below a control, from which people choose. The control keeps the focus and gets the keys: Enter
 * and a click choose, the arrow keys move in the list, and Escape closes it. A control may have further keys.
 */

import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { afterDraw } from "./focus.ts";
import { Icon } from "./icon.tsx";

export interface Choice {
  /** The choices of a list have different texts. */
  text: string;
  label: string;
  /** How the list shows the choice; by default, its label. */
  drawn?: ComponentChildren;
  title?: string;
}

interface ListBoxOptions {
  choices: readonly Choice[];
  /** The text of the current choice; `undefined` if there is none. */
  current: string | undefined;
  /** Whether nobody can choose at the moment. */
  isLocked: boolean;
  /** Called with a text that is not the current one. */
  onPick: (text: string) => void;
  /** The end of a list that does not show all choices. */
  more?: ComponentChildren;
}

/** The place of the keys while they are in the text of the control, and on no choice. */
export const NOWHERE = -1;

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

export function useListBox<Control extends HTMLElement>(options: ListBoxOptions) {
  const { choices, current, isLocked, onPick, more } = options;
  /** The place of the choice on which the keys are; `undefined` while the list is closed. */
  const [place, setPlace] = useState<number | undefined>(undefined);
  const id = useId();
  const control = useRef<Control>(null);
  const list = useRef<HTMLUListElement>(null);
  const isOpen = place !== undefined && choices.length > 0 && !isLocked;
  useListBelow(isOpen, list, control, choices.length);

  const move = (to: number) => {
    // Otherwise the list would open by itself as soon as it is unlocked.
    if (isLocked) return;
    setPlace(to);
    afterDraw(() => {
      list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
    });
  };
  const open = (at = choices.findIndex(({ text }) => text === current)) => move(at);
  const close = () => setPlace(undefined);
  const pick = (at = place ?? NOWHERE) => {
    // The list may have fewer choices by now.
    const picked: Choice | undefined = choices[at];
    close();
    if (picked !== undefined && picked.text !== current) onPick(picked.text);
  };
  /** Handles a key while the list is open. The keys that it does not know belong to the control. */
  const onListKey = (event: KeyboardEvent) => {
    const { key } = event;
    const from = place ?? NOWHERE;
    if (key in STEPS) move(Math.max(0, Math.min(choices.length - 1, from + STEPS[key])));
    else if (key === "Enter" && from !== NOWHERE) pick();
    else if (key === "Escape") close();
    else if (key === "Enter") {
      // The control sends its form, and the list must not cover the faults.
      close();
      return;
    } else return;
    // No form is sent, and neither the list of animals nor a dialog gets the key.
    event.preventDefault();
    event.stopPropagation();
  };
  const attributes = {
    ref: control,
    role: "combobox" as const,
    "aria-haspopup": "listbox" as const,
    "aria-expanded": isOpen,
    "aria-controls": id,
    "aria-activedescendant": isOpen && place !== NOWHERE ? `${id}-${place}` : undefined,
  };
  const box: JSX.Element | undefined = isOpen
    ? (
      <ul
        ref={list}
        id={id}
        role="listbox"
        aria-label="Choices"
        class="choices"
        popover="manual"
        // The control keeps the focus.
        onMouseDown={(event) => event.preventDefault()}
      >
        {choices.map((choice, index) => (
          <li
            key={choice.text}
            id={`${id}-${index}`}
            role="option"
            class={index === place ? "active" : ""}
            title={choice.title}
            aria-selected={choice.text === current}
            onPointerMove={() => setPlace(index)}
            onClick={() => pick(index)}
          >
            {choice.drawn ?? <bdi>{choice.label}</bdi>}
            {choice.text === current && <Icon name="check" />}
          </li>
        ))}
        {more}
      </ul>
    )
    : undefined;
  return { isOpen, place, open, close, move, pick, onListKey, attributes, box };
}

interface Ref<Type> {
  readonly current: Type | null;
}

/** Shows the list, a popover, while `isOpen`. It stays at its control while the page moves. */
function useListBelow(
  isOpen: boolean,
  list: Ref<HTMLElement>,
  control: Ref<HTMLElement>,
  length: number,
): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    list.current!.showPopover();
    const follow = () => placeBelow(list.current!, control.current!);
    follow();
    addEventListener("scroll", follow, true);
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow, true);
      removeEventListener("resize", follow);
    };
  }, [isOpen, length]);
}

/** Pixels between the list and the edge of the screen. */
const MARGIN = 8;

/** Puts the list below its control, or above it if there is more room. It is at least as wide. */
function placeBelow(list: HTMLElement, control: HTMLElement): void {
  const { left, right, top, bottom } = control.getBoundingClientRect();
  list.style.minWidth = `${right - left}px`;
  const { width, height } = list.getBoundingClientRect();
  const isBelow = bottom + height <= innerHeight || top < height;
  const farthest = innerWidth - width - MARGIN;
  list.style.left = `${Math.max(MARGIN, Math.min(left, farthest))}px`;
  list.style.top = `${isBelow ? bottom : top - height}px`;
}
