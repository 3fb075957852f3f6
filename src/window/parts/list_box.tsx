/**
 * The list that opens below a control, from which people choose. The control keeps the focus and gets the keys: Enter
 * and a click choose, the arrow keys move in the list, and Escape closes it. A control may have further keys.
 */

import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { afterDraw } from "./focus.ts";
import { Icon } from "./icon.tsx";
import type { Choice } from "./select.tsx";

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

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

export function useListBox(options: ListBoxOptions) {
  const { choices, current, isLocked, onPick, more } = options;
  const [isWanted, setIsWanted] = useState(false);
  /** The text of the choice on which the keys are, wherever it is in the list; `undefined` if they are on none. */
  const [active, setActive] = useState<string | undefined>(undefined);
  const id = useId();
  const control = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  /** -1 if the keys are on no choice. */
  const place = choices.findIndex(({ text }) => text === active);
  const isOpen = isWanted && choices.length > 0 && !isLocked;
  useLayoutEffect(() => {
    // The list is placed at the control.
    if (isOpen) list.current!.showPopover({ source: control.current! });
  }, [isOpen]);

  /** Opens the list with the keys on a choice, or moves them there. */
  const goTo = (text: string | undefined) => {
    // Otherwise the list would open by itself as soon as it is unlocked.
    if (isLocked) return;
    setIsWanted(true);
    setActive(text);
    afterDraw(() => {
      list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
    });
  };
  const close = () => setIsWanted(false);
  const pick = (text = active) => {
    close();
    // Somebody may have removed the choice meanwhile.
    const picked = choices.find((choice) => choice.text === text);
    if (picked !== undefined && picked.text !== current) onPick(picked.text);
  };
  /** Handles a key while the list is open. The keys that it does not know belong to the control. */
  const onListKey = (event: KeyboardEvent) => {
    const { key } = event;
    if (key in STEPS) {
      const to = Math.max(0, Math.min(choices.length - 1, place + STEPS[key]));
      goTo(choices[to].text);
    } else if (key === "Enter" && place !== -1) pick();
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
    control,
    role: "combobox" as const,
    "aria-haspopup": "listbox" as const,
    "aria-expanded": isOpen,
    "aria-controls": id,
    "aria-activedescendant": isOpen && place !== -1 ? `${id}-${place}` : undefined,
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
            onPointerMove={({ movementX, movementY }) => {
              // The list may also move below a pointer that rests.
              const isMoved = movementX !== 0 || movementY !== 0;
              if (isMoved) setActive(choice.text);
            }}
            onClick={() => pick(choice.text)}
          >
            {choice.drawn ?? <bdi translate={false}>{choice.label}</bdi>}
            {choice.text === current && <Icon name="check" />}
          </li>
        ))}
        {more}
      </ul>
    )
    : undefined;
  return { isOpen, place, goTo, close, pick, onListKey, attributes, box };
}
