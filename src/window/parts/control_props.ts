/** The properties of the controls of a form. */

import type { HTMLAttributes } from "preact";

type Shared = Pick<
  HTMLAttributes,
  "id" | "class" | "aria-label" | "aria-busy" | "aria-invalid" | "aria-describedby"
>;

/** Attributes that a form gives to a control, such as its label. */
export interface ControlAttributes extends Shared {
  name?: string;
  /** Whether nobody can change the text at the moment. */
  readOnly?: boolean;
}

export interface ControlProps extends ControlAttributes {
  text: string;
  onText: (text: string) => void;
  /** Adds a choice with a typed name, if people can add choices. */
  onNew?: (name: string) => void;
  /** Called when the reader leaves a control in which people type what they look for. */
  onLeave?: () => void;
}
