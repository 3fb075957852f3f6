/** A button and the menu that it opens: on a narrow page, at the bottom of the screen. A choice closes the menu. */

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface MenuProps {
  /** The content of the button. */
  button: ComponentChildren;
  /** The class of the button. */
  class: string;
  /** The tooltip of the button. */
  title: string;
  /** The name of the menu. */
  label: string;
  /** Whether a wide page has the content in place of the button. */
  isUnfolded?: boolean;
  disabled?: boolean;
  children: ComponentChildren;
}

export function Menu(
  { button, label, isUnfolded, children, ...attributes }: MenuProps,
): JSX.Element {
  const id = useId();
  return (
    <>
      <button type="button" {...attributes} popovertarget={id}>{button}</button>
      <div
        id={id}
        popover="auto"
        class={isUnfolded ? "menu unfolded" : "menu"}
        role="group"
        aria-label={label}
        onClickCapture={closeAfterChoice}
      >
        {children}
      </div>
    </>
  );
}

/** The button of the menu has the focus before a choice opens a dialog, so the dialog returns the focus to it. */
function closeAfterChoice({ target, currentTarget }: MouseEvent): void {
  const isChoice = (target as Element).closest("button, a") !== null;
  if (isChoice) (currentTarget as HTMLElement).hidePopover();
}
