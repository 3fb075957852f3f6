/** A labelled control of a form, with the fault of its text. */

import type { ComponentChildren, JSX } from "preact";
import { useId, useRef } from "preact/hooks";
import type { ControlAttributes } from "./control_props.ts";

interface FormFieldProps {
  label: string;
  /** The fault of the text; `undefined` if it has none. */
  fault: string | undefined;
  /** What would make the text sound, below its fault. */
  remedy?: { label: ComponentChildren; onPress: () => void };
  /** Whether only assistive technology reads the label. */
  isLabelHidden?: boolean;
  /** Whether nobody can change the text at the moment. */
  isLocked?: boolean;
  /** What will happen with the text. */
  hint?: string;
  /** Draws the control with these attributes. */
  children: (attributes: ControlAttributes) => ComponentChildren;
}

export function FormField(props: FormFieldProps): JSX.Element {
  const { label, fault, remedy, isLabelHidden, isLocked, hint, children } = props;
  const id = useId();
  const labelElement = useRef<HTMLLabelElement>(null);
  const faultId = `${id}-fault`;
  const hintId = `${id}-hint`;
  const attributes = {
    id,
    readOnly: isLocked,
    "aria-invalid": fault !== undefined,
    "aria-describedby": hint === undefined ? faultId : `${faultId} ${hintId}`,
    "aria-label": isLabelHidden ? label : undefined,
  };
  return (
    <div class={isLabelHidden ? "field bare" : "field"}>
      {!isLabelHidden && <label ref={labelElement} for={id}>{label}</label>}
      {children(attributes)}
      {hint !== undefined && <p class="soft small" id={hintId} role="status">{hint}</p>}
      <p class="fault" id={faultId} role="alert">{fault}</p>
      {fault !== undefined && remedy !== undefined && (
        <button
          type="button"
          onClick={() => {
            // The button is gone then.
            labelElement.current?.control?.focus();
            remedy.onPress();
          }}
        >
          {remedy.label}
        </button>
      )}
    </div>
  );
}
