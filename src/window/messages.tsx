/**
 * The message about the last action, below the list: its success for some seconds, its failure until it is closed. There is
 * one at a time, so that it hides little.
 */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { restoreFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";

const TOAST_MS = 4_000;
/** How long an action can be undone. It is longer while the reader points at the message, or has the focus in it. */
const UNDO_MS = 8_000;

interface Toast {
  content: ComponentChildren;
  undo: (() => void) | undefined;
}

/** The success of the last action. It is not shown while there is a failure. */
const toast = signal<Toast | undefined>(undefined);

/** The reason if the last action failed. */
export const problem = signal<ComponentChildren>(undefined);

/** Shows the success of an action for some seconds. In this time, the reader can call `undo`. */
export function showToast(content: ComponentChildren, undo?: () => void): void {
  problem.value = undefined;
  toast.value = { content, undo };
}

function hideToast(): void {
  toast.value = undefined;
  restoreFocus();
}

export function showProblem(error: unknown): void {
  problem.value = (error as Error).message;
}

/** Carries out an action. Its success hides an earlier failure. Resolves to whether it succeeded. */
export async function attempt(
  action: () => Promise<unknown>,
  showError: (error: unknown) => void = showProblem,
): Promise<boolean> {
  try {
    await action();
  } catch (error) {
    showError(error);
    return false;
  }
  problem.value = undefined;
  return true;
}

export function Messages(): JSX.Element {
  return (
    <>
      {problem.value && (
        <p class="problem" role="alert">
          <span>{problem}</span>
          <button
            type="button"
            class="quiet"
            aria-label="Close this message"
            onClick={() => problem.value = undefined}
          >
            <Icon name="close" />
          </button>
        </p>
      )}
      <ToastMessage />
    </>
  );
}

function ToastMessage(): JSX.Element {
  const element = useRef<HTMLParagraphElement>(null);
  const shown = toast.value;
  const isShown = shown !== undefined && !problem.value;
  const undo = () => {
    hideToast();
    shown?.undo?.();
  };
  useEffect(() => {
    if (shown === undefined) return;
    const durationMs = shown.undo === undefined ? TOAST_MS : UNDO_MS;
    const hideUnlessHeld = () => {
      const isHeld = element.current?.matches(":hover, :focus-within");
      if (isHeld) timer = setTimeout(hideUnlessHeld, durationMs);
      else hideToast();
    };
    let timer = setTimeout(hideUnlessHeld, durationMs);
    return () => clearTimeout(timer);
  }, [shown]);
  useLayoutEffect(() => {
    // Nobody can reach the button with the Tab key in time.
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isUndoKey(event)) return;
      event.preventDefault();
      if (shown?.undo === undefined) showToast("Nothing to undo");
      else undo();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [shown]);
  return (
    <p ref={element} class="toast" role="status">
      {isShown && <span>{shown.content}</span>}
      {isShown && shown.undo !== undefined && (
        <button type="button" title="Undo (Ctrl+Z)" onClick={undo}>Undo</button>
      )}
    </p>
  );
}

/** In a field and in a dialog, the key undoes what was typed. */
function isUndoKey({ key, ctrlKey, metaKey, shiftKey, target }: KeyboardEvent): boolean {
  const isKey = key === "z" && (ctrlKey || metaKey) && !shiftKey;
  const isTyping = (target as Element).matches("input:not([type=checkbox]), dialog *");
  return isKey && !isTyping;
}
