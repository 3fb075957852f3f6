/**
 * A button and the menu that it opens: on a narrow page, at the bottom of the screen. A choice closes the menu. If a key
 * opens it, its first control gets the focus. The arrow keys move in it, and Escape returns to the button.
 */

import type { ComponentChildren, JSX } from "preact";
import { useId, useRef } from "preact/hooks";
import { isText } from "./keys.ts";
import { useLayer } from "./page_keys.ts";

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

const CONTROLS = "button, a, input";

export function Menu(
  { button, label, isUnfolded, children, ...attributes }: MenuProps,
): JSX.Element {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  useLayer(menu);
  const onKeyDown = (event: KeyboardEvent) => moveFocus(event, menu.current!);
  return (
    <>
      <button
        type="button"
        {...attributes}
        popovertarget={id}
        onKeyDown={onKeyDown}
        onClick={(event) => toggleByKey(event, menu.current!)}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class={isUnfolded ? "menu unfolded" : "menu"}
        role="group"
        aria-label={label}
        onKeyDown={onKeyDown}
        onClickCapture={closeAfterChoice}
      >
        {children}
      </div>
    </>
  );
}

/** The browser opens the menu for a pointer. */
function toggleByKey(event: MouseEvent, menu: HTMLElement): void {
  const isByPointer = event.detail > 0;
  if (isByPointer) return;
  event.preventDefault();
  const isOpen = menu.togglePopover({ source: event.currentTarget as HTMLElement });
  if (isOpen) controlsOf(menu)[0]?.focus();
}

/** A text keeps the arrow keys. */
function moveFocus(event: KeyboardEvent, menu: HTMLElement): void {
  if (isText(event.target as Element) || !menu.matches(":popover-open")) return;
  const controls = controlsOf(menu);
  const place = controls.indexOf(event.target as HTMLElement);
  const last = controls.length - 1;
  const places: Record<string, number> = {
    ArrowDown: Math.min(place + 1, last),
    ArrowUp: Math.max(place - 1, 0),
    Home: 0,
    End: last,
  };
  const next = places[event.key];
  if (next === undefined) return;
  event.preventDefault();
  controls[next]?.focus();
}

function controlsOf(menu: HTMLElement): HTMLElement[] {
  const controls = menu.querySelectorAll<HTMLElement>(CONTROLS);
  return [...controls].filter((it) => it.checkVisibility());
}

/** The focus is on the button of the menu before a choice opens a dialog, so the dialog returns the focus to it. */
function closeAfterChoice({ target, currentTarget }: MouseEvent): void {
  const isChoice = (target as Element).closest("button, a") !== null;
  if (isChoice) (currentTarget as HTMLElement).hidePopover();
}
