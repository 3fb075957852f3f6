/** Moves the focus if the element that had it is gone. */

/** Calls `action` after the latest change is drawn, and before the next key or click. */
export function afterDraw(action: () => void): void {
  queueMicrotask(action);
}

/** Puts the focus on the list, or on the heading of the page, if nothing has it. */
export function restoreFocus(): void {
  // The browser first returns the focus to the control that opened a dialog.
  afterDraw(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (!isLost) return;
    // The row of the list comes after its tab.
    const homes = document.querySelectorAll<HTMLElement>("[data-home]");
    [...homes].at(-1)?.focus({ preventScroll: true });
  });
}
