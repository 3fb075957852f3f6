/**
 * The field of a category: a text with the list of the categories that it finds, by names and ids. Its text is the id, as
 * long as nobody types. A number without a name can be typed, too. The keys are those of a combobox with a list.
 */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  findCategories,
  namedCategories,
  type NamedCategory,
  nameOfCategory,
} from "./category_names.ts";
import type { ControlProps } from "./control_props.ts";
import { type Choice, NOWHERE, useListBox } from "./list_box.tsx";
import { Name } from "./name.tsx";

/** A list that is longer says how many more there are. */
const CHOICES_SHOWN = 100;

const INTEGER = /^-?\d+$/;

interface CategoryPickerProps extends ControlProps {
  placeholder?: string;
  /** Called when the reader leaves the field. */
  onLeave?: () => void;
}

export function CategoryPicker(props: CategoryPickerProps): JSX.Element {
  const { text, onText, placeholder, onLeave, ...attributes } = props;
  const [isTyping, setIsTyping] = useState(false);
  const found = findCategories(isTyping ? text : "");
  const choices = found.slice(0, CHOICES_SHOWN).map(choiceOf);
  const list = useListBox<HTMLInputElement>({
    choices,
    current: isTyping ? undefined : text,
    isLocked: attributes.readOnly === true,
    onPick: (picked) => {
      setIsTyping(false);
      onText(picked);
    },
    more: found.length > choices.length && <More count={found.length - choices.length} />,
  });
  const type = (typed: string) => {
    setIsTyping(true);
    const first = findCategories(typed)[0];
    list.open(first !== undefined && isMeant(typed, first) ? 0 : NOWHERE);
    onText(typed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    const isArrow = key === "ArrowDown" || key === "ArrowUp";
    if (list.isOpen && key === "Tab" && isTyping && list.place !== NOWHERE) list.pick();
    else if (list.isOpen) list.onListKey(event);
    else if (isArrow) {
      event.preventDefault();
      list.open();
    }
  };
  return (
    <>
      <input
        inputMode={namedCategories.value.length === 0 ? "numeric" : undefined}
        autocomplete="off"
        placeholder={placeholder}
        {...attributes}
        {...list.attributes}
        title={isTyping ? undefined : titleOf(text)}
        aria-autocomplete="list"
        value={isTyping ? text : shownText(text)}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onClick={() => list.open()}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setIsTyping(false);
          list.close();
          onLeave?.();
        }}
      />
      {list.box}
    </>
  );
}

function choiceOf({ id, name }: NamedCategory): Choice {
  const drawn = (
    <>
      <Name of={name} />
      <span class="soft">{String(id)}</span>
    </>
  );
  return { text: String(id), label: name, drawn, title: `Category ${id}` };
}

function More({ count }: { count: number }): JSX.Element {
  return (
    <li role="presentation" class="soft small">
      {count.toLocaleString("en")} more. Type to find them
    </li>
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
