/** The fields of an animal in a form. While it is being sent, they are locked, because a change would be lost. */

import type { JSX } from "preact";
import { ResponseError } from "../data/api.ts";
import {
  type EditableField,
  type Faults,
  faultsOfError,
  FIELDS,
  type Texts,
} from "../data/fields.ts";
import { openCategoryDialog } from "../categories/category_dialog.tsx";
import { afterDraw } from "../parts/focus.ts";
import { viewOf } from "./field_views.tsx";
import { FormField } from "../parts/form_field.tsx";

interface AnimalFieldsProps {
  fields: readonly EditableField[];
  texts: Texts;
  faults: Faults;
  isSending: boolean;
  /** The name of the animal, if only assistive technology reads the labels. They name the animal then. */
  hiddenLabelsOf?: string;
  onChange: (texts: Texts, faults: Faults) => void;
}

export function AnimalFields(props: AnimalFieldsProps): JSX.Element {
  const { fields, texts, faults, isSending, hiddenLabelsOf, onChange } = props;
  const change = (name: keyof Texts, text: string) => {
    onChange({ ...texts, [name]: text }, faultsAfter(faults, name, text));
  };
  const addCategory = (typed: string) => {
    openCategoryDialog({ typed, onAdded: (id) => change("categoryId", String(id)) });
  };
  return (
    <>
      {fields.map((field) => {
        const { name, label } = field;
        const { Control } = viewOf(field);
        return (
          <FormField
            key={name}
            label={hiddenLabelsOf === undefined ? label : `${label} of ${hiddenLabelsOf}`}
            isLabelHidden={hiddenLabelsOf !== undefined}
            fault={faults[name]}
            isLocked={isSending}
          >
            {(attributes) => (
              <Control
                {...attributes}
                name={name}
                text={texts[name] ?? ""}
                onText={(text) => change(name, text)}
                onNew={name === "categoryId" ? addCategory : undefined}
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
  const parsed = FIELDS.find((field) => field.name === name)!.parse(text);
  return parsed.isSound ? others : { ...others, [name]: parsed.fault };
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
