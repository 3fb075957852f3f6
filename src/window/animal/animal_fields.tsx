/** Fields of an animal in a form. While it is being sent, they are locked, because a change would be lost. */

import type { JSX } from "preact";
import { ResponseError } from "../data/api.ts";
import { faultOfCategoryName, isNewCategoryName } from "../data/categories.ts";
import {
  type EditableField,
  type Faults,
  faultsOfError,
  FIELDS,
  type Texts,
} from "../data/fields.ts";
import { afterDraw, afterPress } from "../parts/focus.ts";
import { viewOf } from "./field_views.tsx";
import { FormField } from "../parts/form_field.tsx";
import { Name } from "../parts/name.tsx";

interface AnimalFieldsProps {
  fields: readonly EditableField[];
  texts: Texts;
  faults: Faults;
  /** Whether the text of the category is the name of one that is added. */
  isNewCategory: boolean;
  /** What will happen with such a name. */
  newCategoryHint: string;
  isSending: boolean;
  onChange: (texts: Texts, faults: Faults) => void;
  /** Called if the reader chooses to add a category with this name. */
  onNewCategory: (name: string) => void;
  /** Called if the reader leaves a field with a text that has a fault. */
  onFault: (fault: Faults) => void;
}

export function AnimalFields(props: AnimalFieldsProps): JSX.Element {
  const { fields, texts, faults, isNewCategory, isSending } = props;
  const { onChange, onNewCategory, onFault } = props;
  const change = (name: keyof Texts, text: string, after = faultsAfter(faults, name, text)) => {
    onChange({ ...texts, [name]: text }, after);
  };
  const addCategory = (name: string) => {
    const { categoryId: _, ...others } = faults;
    change("categoryId", name, others);
    onNewCategory(name);
  };
  const typedCategory = texts.categoryId ?? "";
  const mayAddCategory = !isNewCategory && isNewCategoryName(typedCategory) &&
    faultOfCategoryName(typedCategory) === undefined;
  const addTyped = {
    label: (
      <>
        Add the category “<Name of={typedCategory.trim()} />”
      </>
    ),
    onPress: () => addCategory(typedCategory.trim()),
  };
  const leaveCategory = () => {
    const fault = isNewCategory ? undefined : faultOf("categoryId", typedCategory);
    if (typedCategory !== "" && fault !== undefined) {
      afterPress(() => onFault({ categoryId: fault }));
    }
  };
  return (
    <>
      {fields.map((field) => {
        const { name, label } = field;
        const { Control } = viewOf(field);
        const isCategory = name === "categoryId";
        return (
          <FormField
            key={name}
            label={label}
            fault={faults[name]}
            remedy={isCategory && mayAddCategory ? addTyped : undefined}
            isLocked={isSending}
            hint={isCategory && isNewCategory ? props.newCategoryHint : undefined}
          >
            {(attributes) => (
              <Control
                {...attributes}
                name={name}
                text={texts[name] ?? ""}
                onText={(text) => change(name, text)}
                {...isCategory && { onNew: addCategory, onLeave: leaveCategory }}
              />
            )}
          </FormField>
        );
      })}
    </>
  );
}

/** The faults after another text in one of the fields: only a field that had a fault can have one. */
function faultsAfter(faults: Faults, name: keyof Faults, text: string): Faults {
  if (faults[name] === undefined) return faults;
  const { [name]: _, ...others } = faults;
  const fault = faultOf(name, text);
  return fault === undefined ? others : { ...others, [name]: fault };
}

function faultOf(name: keyof Faults, text: string): string | undefined {
  const parsed = FIELDS.find((field) => field.name === name)!.parse(text);
  return parsed.isSound ? undefined : parsed.fault;
}

/** Puts the focus on the first control of a form that has a fault. */
export function focusFault(form: Element | null | undefined): void {
  afterDraw(() => {
    form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  });
}

/** The faults that an error of the interface names, by their fields. */
export function faultsIn(error: unknown): Faults {
  if (!(error instanceof ResponseError)) return {};
  return faultsOfError({ code: error.code, message: error.original });
}
