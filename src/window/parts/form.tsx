/** A form that keeps what was filled in, and leaves the keys of an input method to that. */

import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { afterDraw } from "./focus.ts";
import { belongsToInputMethod, TEXT_INPUTS } from "./keys.ts";

interface FormProps {
  method?: "dialog";
  onSend: () => void;
  children: ComponentChildren;
}

export function Form({ method, onSend, children }: FormProps): JSX.Element {
  const latest = useRef(onSend);
  latest.current = onSend;
  return (
    <form
      method={method}
      noValidate
      onKeyDown={(event) => {
        const isOfForm = ["Enter", "Escape"].includes(event.key);
        if (isOfForm && belongsToInputMethod(event)) event.preventDefault();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        afterFilled(event.currentTarget, () => latest.current());
      }}
    >
      {children}
    </form>
  );
}

/** Calls `action` when the page has also taken the texts that were filled in without an event. */
export function afterFilled(form: ParentNode | null, action: () => void): void {
  const inputs = form?.querySelectorAll(TEXT_INPUTS) ?? [];
  for (const input of inputs) input.dispatchEvent(new Event("change"));
  afterDraw(action);
}
