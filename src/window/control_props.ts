import type { HTMLAttributes } from "preact";

/** Attributes that a form gives to a control, such as its label. */
export type ControlAttributes = Pick<
  HTMLAttributes,
  "id" | "class" | "inputMode" | "aria-label" | "aria-invalid" | "aria-describedby"
>;

export interface ControlProps extends ControlAttributes {
  name: string;
  text: string;
  onText: (text: string) => void;
}
