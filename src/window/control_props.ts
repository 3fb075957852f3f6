import type { HTMLAttributes } from "preact";

type Shared = Pick<
  HTMLAttributes,
  "id" | "class" | "inputMode" | "aria-label" | "aria-busy" | "aria-invalid" | "aria-describedby"
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
  /** Makes a new thing with a typed name, if people choose from things that they can make. */
  onNew?: (name: string) => void;
}
