/** How each field of an animal is drawn: its value, its control in a form, and its change in a sentence. */

import type { ComponentChildren, JSX } from "preact";
import type { Pet, PetStatus } from "../../../events/pet.ts";
import { CategoryName } from "../categories/category_name.tsx";
import { CategoryPicker } from "../categories/category_picker.tsx";
import { nameOfCategory } from "../data/categories.ts";
import {
  type AnyField,
  type FieldName,
  FIELDS,
  firstLineOf,
  type LabelledText,
  statusLabel,
  withPlainBreaks,
} from "../data/fields.ts";
import type { ControlProps } from "../parts/control_props.ts";
import { Name } from "../parts/name.tsx";
import { type Choice, Select } from "../parts/select.tsx";
import { TextArea } from "../parts/text_area.tsx";
import { TextInput } from "../parts/text_input.tsx";

interface FieldView<Value> {
  /** The value in the list, in the preview of an import and in a description; only the first line of a long one. */
  show(value: Value | undefined): ComponentChildren;
  /** The whole value, on the page of the animal. */
  showWhole(value: Value | undefined): ComponentChildren;
  Control(props: ControlProps): JSX.Element;
  /** The event when the animal got the value, after its name: for example "was sold". */
  sentence(value: Value | undefined): ComponentChildren;
}

/** The views of fields that differ from the usual one: a text, and a line of text or a select to change it. */
const OWN_VIEWS: { readonly [Name in FieldName]?: Partial<FieldView<Pet[Name]>> } = {
  name: {
    show: (value = "") => <Name of={value} />,
    sentence: (value = "") => (
      <>
        was renamed <Name of={value} />
      </>
    ),
  },
  categoryId: {
    show: (value) => value === undefined ? "" : <CategoryName id={value} />,
    Control: CategoryPicker,
    sentence(value) {
      const name = value === undefined ? undefined : nameOfCategory(value);
      if (value === undefined) return "lost its category";
      if (name === undefined) return `moved to category ${value}`;
      return (
        <>
          moved to <Name of={name} />
        </>
      );
    },
  },
  status: {
    show: (value) => <StatusPill status={value} />,
  },
  note: {
    show: (value) => value && <bdi translate={false}>{firstLineOf(value)}</bdi>,
    showWhole: (value) =>
      value && <bdi class="lines" translate={false}>{withPlainBreaks(value)}</bdi>,
    Control: TextArea,
    sentence(value) {
      if (value === undefined) return "lost its note";
      return (
        <>
          got the note “<bdi translate={false}>{firstLineOf(value)}</bdi>”
        </>
      );
    },
  },
};

const VIEWS: ReadonlyMap<FieldName, FieldView<unknown>> = new Map(
  FIELDS.map((field) => [field.name, withDefaults(field)]),
);

/** The view of a field. It accepts only values that the methods of the field have returned. */
export function viewOf({ name }: AnyField): FieldView<unknown> {
  return VIEWS.get(name)!;
}

function withDefaults({ name, textOf, sentence, choices }: AnyField): FieldView<unknown> {
  const own = OWN_VIEWS[name] as Partial<FieldView<unknown>> | undefined;
  const drawn = choices?.map(dottedChoice);
  const Control = drawn === undefined
    ? TextInput
    : (props: ControlProps) => <Select {...props} choices={drawn} />;
  // An element with nothing in it would have the place of a value.
  const show = (value: unknown) => textOf(value) && <bdi translate={false}>{textOf(value)}</bdi>;
  const views = { show, Control, sentence, ...own };
  return { showWhole: views.show, ...views };
}

/** A choice with the dot that has the colour of its text. */
export function dottedChoice({ text, label }: LabelledText): Choice {
  return { text, label, drawn: <span class={`dot ${text || "none"}`}>{label}</span> };
}

/** The status of an animal, for people who may not change it. */
export function StatusPill({ status }: { status: PetStatus | undefined }): JSX.Element {
  return <span class={`pill ${status ?? "none"}`}>{statusLabel(status)}</span>;
}
