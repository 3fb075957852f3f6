/** Where the focus goes if the element that had it is gone. Parts of the page name their homes for it. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

const homes = new Set<HTMLElement>();

/** While `isHome`, a lost focus goes to the element, unless another home comes after it: the row of a list, after its tab. */
export function useHome(element: RefObject<HTMLElement | null>, isHome = true): void {
  useLayoutEffect(() => {
    if (!isHome) return;
    const home = element.current!;
    homes.add(home);
    return () => {
      homes.delete(home);
    };
  }, [isHome]);
}

/** Calls `action` after the latest change is drawn, and before the next key or click. */
export function afterDraw(action: () => void): void {
  queueMicrotask(action);
}

/** Calls `action` when nothing is pressed any more, so that nothing moves away from a click. */
export function afterPress(action: () => void): void {
  // Below a modal dialog, the root of the document is never active.
  const isPressed = document.querySelector(":active") !== null;
  if (isPressed) addEventListener("click", action, { once: true });
  else action();
}

/** Puts the focus on the last home of the page. */
export function focusHome(): void {
  const inOrder = [...homes].sort((one, other) => isBefore(one, other) ? -1 : 1);
  inOrder.at(-1)?.focus({ preventScroll: true });
}

function isBefore(one: Node, other: Node): boolean {
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/** Puts the focus on the last home if nothing has it. */
export function restoreFocus(): void {
  // The browser first returns the focus to the control that opened a dialog.
  afterDraw(() => {
    if (isFocusLost()) focusHome();
  });
}

/** Whether the reader has gone nowhere with the focus: nothing has it, or a home. */
export function isFocusFree(): boolean {
  return isFocusLost() || homes.has(document.activeElement as HTMLElement);
}

function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
