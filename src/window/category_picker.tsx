/**
 * The field of a category: a text with the list of the categories that it finds, by names and ids. Its text is the id, as
 * long as nobody types. A number without a name can be typed, too. The keys are those of a combobox with a list.
 */

import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import {
  findCategories,
  namedCategories,
  type NamedCategory,
  nameOfCategory,
} from "./category_names.ts";
import type { ControlProps } from "./control_props.ts";
import { useListBelow } from "./list_below.ts";
import { Name } from "./name.tsx";

/** A list that is longer says how many more there are. */
const CHOICES_SHOWN = 100;

const INTEGER = /^-?\d+$/;

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

interface CategoryPickerProps extends ControlProps {
  placeholder?: string;
  /** Called when the reader leaves the field. */
  onLeave?: () => void;
}

export function CategoryPicker(props: CategoryPickerProps): JSX.Element {
  const { text, onText, placeholder, onLeave, ...attributes } = props;
  const [isTyping, setIsTyping] = useState(false);
  const [isOpened, setIsOpened] = useState(false);
  /** The place of the choice on which the keys are; -1 while they are in the text. */
  const [place, setPlace] = useState(-1);
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const found = findCategories(isTyping ? text : "");
  const choices = found.slice(0, CHOICES_SHOWN);
  const isOpen = isOpened && choices.length > 0;
  useListBelow(isOpen, list, input, choices.length);

  const close = () => {
    setIsOpened(false);
    setPlace(-1);
  };
  const open = () => {
    setIsOpened(true);
    setPlace(isTyping ? -1 : choices.findIndex(({ id }) => String(id) === text));
  };
  const move = (to: number) => {
    setPlace(to);
    // The list is drawn first if it was closed.
    requestAnimationFrame(() => {
      list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
    });
  };
  const type = (typed: string) => {
    setIsTyping(true);
    setIsOpened(true);
    const first = findCategories(typed)[0];
    setPlace(first !== undefined && isMeant(typed, first) ? 0 : -1);
    onText(typed);
  };
  const pick = ({ id }: NamedCategory) => {
    setIsTyping(false);
    close();
    onText(String(id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key in STEPS) {
      event.preventDefault();
      if (isOpen) move(Math.max(0, Math.min(choices.length - 1, place + STEPS[key])));
      else open();
      return;
    }
    if (!isOpen) return;
    if (key === "Tab" && isTyping && place >= 0) pick(choices[place]);
    if (key === "Enter" && place >= 0) {
      // The form is not sent.
      event.preventDefault();
      pick(choices[place]);
    }
    if (key === "Escape") {
      // The dialog or the edit stays open.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return (
    <>
      <input
        inputMode={namedCategories.value.length === 0 ? "numeric" : undefined}
        autocomplete="off"
        placeholder={placeholder}
        {...attributes}
        ref={input}
        role="combobox"
        title={isTyping ? undefined : titleOf(text)}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen && place >= 0 ? `${listId}-${place}` : undefined}
        value={isTyping ? text : shownText(text)}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onClick={open}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setIsTyping(false);
          close();
          onLeave?.();
        }}
      />
      {isOpen && (
        <ul
          ref={list}
          id={listId}
          role="listbox"
          aria-label="Choices"
          class="choices many"
          popover="manual"
          // The text keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
        >
          {choices.map((choice, index) => (
            <li
              key={choice.id}
              id={`${listId}-${index}`}
              role="option"
              class={index === place ? "active" : ""}
              title={`Category ${choice.id}`}
              aria-selected={String(choice.id) === text}
              onPointerMove={() => setPlace(index)}
              onClick={() => pick(choice)}
            >
              <Name of={choice.name} />
              <span class="soft">{String(choice.id)}</span>
            </li>
          ))}
          {found.length > choices.length && (
            <li role="presentation" class="soft small">
              {(found.length - choices.length).toLocaleString("en")} more. Type to find them
            </li>
          )}
        </ul>
      )}
    </>
  );
}

/** Whether Enter chooses the first category that a typed text finds. A number may be that of another one. */
function isMeant(typed: string, first: NamedCategory): boolean {
  const trimmed = typed.trim();
  if (trimmed === "") return false;
  return INTEGER.test(trimmed) ? String(first.id) === trimmed : true;
}

function nameOfText(text: string): string | undefined {
  return INTEGER.test(text) ? nameOfCategory(BigInt(text)) : undefined;
}

function shownText(text: string): string {
  return nameOfText(text) ?? text;
}

function titleOf(text: string): string | undefined {
  return nameOfText(text) === undefined ? undefined : `Category ${text}`;
}
