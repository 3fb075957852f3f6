/**
 * The status of an animal as a pill, and the list from which people choose another one. Only Enter or a click chooses:
 * the arrow keys move in the list, and Escape closes it.
 */

import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { PetStatus } from "../../events/pet.ts";
import { STATUS_CHOICES, statusLabel } from "./fields.tsx";
import { Icon } from "./icon.tsx";
import { useListBelow } from "./list_below.ts";

interface StatusPickerProps {
  status: PetStatus | undefined;
  label: string;
  /** The text of the button; by default, that of the status. With it, no choice is the current one. */
  text?: string;
  /** Whether a choice is being written. */
  isBusy: boolean;
  tabIndex?: number;
  onPick: (status: PetStatus | undefined) => void;
}

/** The steps of the keys that move in the list. */
const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: STATUS_CHOICES.length,
  PageUp: -STATUS_CHOICES.length,
  End: STATUS_CHOICES.length,
  Home: -STATUS_CHOICES.length,
};

export function StatusPicker(props: StatusPickerProps): JSX.Element {
  const { status, label, text, isBusy, tabIndex = 0, onPick } = props;
  /** The place of the choice on which the keys are; `undefined` while the list is closed. */
  const [place, setPlace] = useState<number | undefined>(undefined);
  const listId = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const isOpen = place !== undefined;
  const current = text === undefined
    ? STATUS_CHOICES.findIndex((choice) => choice.text === (status ?? ""))
    : undefined;

  useListBelow(isOpen, list, button);

  const open = () => {
    if (!isBusy) setPlace(current ?? 0);
  };
  const pick = (chosen: number) => {
    setPlace(undefined);
    button.current?.focus();
    if (chosen !== current) onPick((STATUS_CHOICES[chosen].text || undefined) as PetStatus);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (!isOpen) {
      // In the list of animals, the arrows alone go to another animal.
      const isArrow = key === "ArrowDown" || key === "ArrowUp";
      const isOpening = key === "Enter" || key === " " || event.altKey && isArrow;
      if (!isOpening) return;
      event.preventDefault();
      event.stopPropagation();
      open();
      return;
    }
    if (key === "Tab") {
      setPlace(undefined);
      return;
    }
    // The key must not reach the list of animals or a dialog.
    event.preventDefault();
    event.stopPropagation();
    if (key === "Escape") setPlace(undefined);
    else if (key === "Enter" || key === " ") pick(place);
    else if (key in STEPS) {
      const last = STATUS_CHOICES.length - 1;
      setPlace(Math.max(0, Math.min(last, place + STEPS[key])));
    }
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        role="combobox"
        class={text === undefined ? `pill picker ${status ?? "none"}` : "opens"}
        tabIndex={tabIndex}
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen ? `${listId}-${place}` : undefined}
        aria-busy={isBusy}
        onClick={() => isOpen ? setPlace(undefined) : open()}
        onKeyDown={onKeyDown}
        onBlur={() => setPlace(undefined)}
      >
        {text ?? statusLabel(status)}
        <Icon name="open" />
      </button>
      {isOpen && (
        <ul
          ref={list}
          id={listId}
          role="listbox"
          aria-label="Choices"
          class="choices"
          popover="manual"
        >
          {STATUS_CHOICES.map((choice, index) => (
            <li
              key={choice.text}
              id={`${listId}-${index}`}
              role="option"
              class={index === place ? "active" : ""}
              aria-selected={index === current}
              // The button keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onPointerMove={() => setPlace(index)}
              onClick={() => pick(index)}
            >
              <span class={`dot ${choice.text || "none"}`}>{choice.label}</span>
              {index === current && <Icon name="check" />}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
