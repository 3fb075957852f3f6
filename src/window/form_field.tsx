/** A labelled control of a form, with the fault of its text. */

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { ResponseError } from "./api.ts";
import { afterDraw } from "./focus.ts";
import type { ControlAttributes } from "./control_props.ts";
import { type Faults, faultsOfError, FIELDS } from "./fields.tsx";

interface FormFieldProps {
  label: string;
  /** The fault of the text; `undefined` if it has none. */
  fault: string | undefined;
  /** Whether only assistive technology reads the label. */
  isLabelHidden?: boolean;
  /** Draws the control with these attributes. */
  children: (attributes: ControlAttributes) => ComponentChildren;
}

export function FormField({ label, fault, isLabelHidden, children }: FormFieldProps): JSX.Element {
  const id = useId();
  const faultId = `${id}-fault`;
  const attributes = {
    id,
    "aria-invalid": fault !== undefined,
    "aria-describedby": faultId,
    "aria-label": isLabelHidden ? label : undefined,
  };
  return (
    <div class="field">
      {!isLabelHidden && <label for={id}>{label}</label>}
      {children(attributes)}
      <p class="fault" id={faultId} role="alert">{fault}</p>
    </div>
  );
}

/** Puts the focus on the first control of a form that has a fault. */
export function focusFault(form: Element | null | undefined): void {
  afterDraw(() => {
    form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  });
}

/** The faults after another text in one of the fields: only a field that had a fault can have one. */
export function faultsAfter(faults: Faults, name: keyof Faults, text: string): Faults {
  if (faults[name] === undefined) return faults;
  const { [name]: _, ...others } = faults;
  const parsed = FIELDS.find((field) => field.name === name)!.parse(text);
  return parsed.isSound ? others : { ...others, [name]: parsed.fault };
}

/** The faults that an error of the interface names, by their fields. */
export function faultsIn(error: unknown): Faults {
  if (!(error instanceof ResponseError)) return {};
  return faultsOfError({ code: error.code, message: error.original });
}
