/**
 * The field of a category: a text, with a list of the categories that the text finds by names and ids. While nobody
 * types, the text is the id. Any number can be typed, too. After typing, Tab also chooses the active category.
 */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type Category,
  comparedName,
  findCategories,
  isNewCategoryName,
  labelOf,
  nameOfCategory,
  unnamedCategories,
} from "../data/categories.ts";
import type { ControlProps } from "../parts/control_props.ts";
import { grouped } from "../parts/count_words.ts";
import { Icon } from "../parts/icon.tsx";
import { belongsToInputMethod } from "../parts/keys.ts";
import { useListBox } from "../parts/list_box.tsx";
import { Name } from "../parts/name.tsx";
import type { Choice } from "../parts/select.tsx";
import { TextInput } from "../parts/text_input.tsx";

/** Maximum number of choices. A longer list ends with the number of the others. */
const CHOICES_SHOWN = 100;

const INTEGER = /^-?\d+$/;

interface CategoryPickerProps extends ControlProps {
  /** The words for no category, if the field may be empty. */
  any?: string;
}

export function CategoryPicker(props: CategoryPickerProps): JSX.Element {
  const { text, onText, onNew, any, onLeave, ...attributes } = props;
  const [isTyping, setIsTyping] = useState(false);
  /** Whether no arrow key was pressed since the last letter. */
  const [isJustTyped, setIsJustTyped] = useState(false);
  // A name that was left without a choice is still searched for.
  const searched = isTyping || !INTEGER.test(text) ? text : "";
  const found = findCategories(searched);
  const shown = found.slice(0, CHOICES_SHOWN).map(categoryChoice);
  const choices: Choice[] = [...shown];
  if (any !== undefined && searched === "") choices.unshift({ text: "", label: any });
  if (onNew !== undefined && isNewCategoryName(searched)) choices.push(newChoice(text));
  const list = useListBox({
    choices,
    current: isTyping ? undefined : text,
    isLocked: attributes.readOnly === true,
    onPick: (picked) => {
      setIsTyping(false);
      if (picked === NEW) onNew?.(text.trim());
      else onText(picked);
    },
    more: found.length > shown.length && <More count={found.length - shown.length} />,
  });
  /** The choice that Enter takes after typing: the best match or, without any, to add a category. */
  const meantBy = (typed: string): string | undefined => {
    const [first] = findCategories(typed);
    if (first !== undefined && isMeant(typed, first)) return String(first.id);
    return onNew !== undefined && isNewCategoryName(typed) ? NEW : undefined;
  };
  const type = (typed: string) => {
    setIsTyping(true);
    setIsJustTyped(true);
    list.goTo(meantBy(typed));
    onText(typed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (belongsToInputMethod(event)) return;
    const isArrow = key === "ArrowDown" || key === "ArrowUp";
    const active: Choice | undefined = choices[list.place];
    // A mistyped name must not become a category.
    const isTabbed = key === "Tab" && isTyping && active !== undefined && active.text !== NEW;
    const isFirstArrow = key === "ArrowDown" && isTyping && isJustTyped;
    setIsJustTyped(isJustTyped && !isArrow);
    if (list.isOpen && isTabbed) list.pick();
    else if (list.isOpen && isFirstArrow) {
      event.preventDefault();
      // The first match may be active already. The next one may be to add a category.
      list.goTo(choices[0].text);
    } else if (list.isOpen) list.onListKey(event);
    else if (isArrow) {
      event.preventDefault();
      const current = choices.find((choice) => choice.text === text) ?? choices[0];
      list.goTo(current?.text);
    }
  };
  return (
    <>
      <span class="combobox">
        <TextInput
          placeholder={any ?? (onNew && "Choose, or type a new one")}
          {...attributes}
          {...list.attributes}
          title={isTyping ? undefined : tooltipOf(text)}
          aria-autocomplete="list"
          text={isTyping ? text : shownText(text)}
          onText={type}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onClick={() => list.goTo(isTyping ? undefined : text)}
          onKeyDown={onKeyDown}
          onBlur={() => {
            setIsTyping(false);
            list.close();
            onLeave?.();
          }}
        />
        <Icon name="open" />
      </span>
      {list.box}
    </>
  );
}

function categoryChoice(category: Category): Choice {
  const { id, name } = category;
  const text = String(id);
  const label = labelOf(category);
  if (name === undefined) return { text, label };
  return { text, label, drawn: <Name of={name} />, title: `Category ${id}` };
}

/** The text of the choice that adds a category. No id has this text. */
const NEW = "new";

function newChoice(text: string): Choice {
  const label = `Add a category “${text.trim()}”`;
  return { text: NEW, label };
}

function More({ count }: { count: number }): JSX.Element {
  return (
    <li role="presentation" class="soft small">
      {grouped(count)} more. Type to find them
    </li>
  );
}

/**
 * Whether Enter chooses the first category that a typed text finds. A number may be the id of another category, and the
 * beginning of "Category 4" that of a name.
 */
function isMeant(typed: string, first: Category): boolean {
  const trimmed = typed.trim();
  if (trimmed === "") return false;
  if (INTEGER.test(trimmed)) return String(first.id) === trimmed;
  return first.name !== undefined || comparedName(labelOf(first)) === comparedName(trimmed);
}

function nameOfText(text: string): string | undefined {
  return INTEGER.test(text) ? nameOfCategory(BigInt(text)) : undefined;
}

function shownText(text: string): string {
  const unnamed = unnamedCategories.value.find(({ id }) => String(id) === text);
  return unnamed === undefined ? nameOfText(text) ?? text : labelOf(unnamed);
}

function tooltipOf(text: string): string | undefined {
  return nameOfText(text) === undefined ? undefined : `Category ${text}`;
}
