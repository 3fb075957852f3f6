/** Moves the focus if the element that had it is gone. */

/** Calls `action` after the latest change is drawn, and before the next key or click. */
export function afterDraw(action: () => void): void {
  queueMicrotask(action);
}

/** Calls `action` when nothing is pressed any more, so that nothing moves away from a click. */
export function afterPress(action: () => void): void {
  if (document.querySelector(":active") === null) action();
  else addEventListener("click", action, { once: true });
}

/** Puts the focus on the list, or on the heading of the page, if nothing has it. */
export function restoreFocus(): void {
  // The browser first returns the focus to the control that opened a dialog.
  afterDraw(() => {
    if (!isFocusLost()) return;
    // The row of the list comes after its tab.
    const homes = document.querySelectorAll<HTMLElement>("[data-home]");
    [...homes].at(-1)?.focus({ preventScroll: true });
  });
}

/** Puts the focus on what the reader has just done, unless the reader has gone to something else. */
export function showWithFocus(target: HTMLElement | null): void {
  const isAtHome = document.activeElement?.matches("[data-home]");
  if (isFocusLost() || isAtHome) target?.focus();
  restoreFocus();
}

function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
