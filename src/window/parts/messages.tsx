/**
 * The messages about the last actions, below the list: a success for some seconds, a failure until it is closed. Few
 * are shown at a time, so that they hide little.
 */

import { signal } from "@preact/signals";
import { type ComponentChildren, createRef, type JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { restoreFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { latinKey } from "./keys.ts";
import { usePageKeys } from "./page_keys.ts";

const TOAST_MS = 4_000;
/** How long an action can be undone. It is longer while the reader points at the message, or has the focus in it. */
const UNDO_MS = 8_000;

/** The way back from an action. */
export interface Undo {
  carryOut: () => void;
  /** Whether there still is something that can be undone. A signal may say so. */
  isPossible: () => boolean;
  /** Whether somebody has undone all of it in another way. The message goes then. A signal may say so. */
  isOver: () => boolean;
}

interface Toast {
  content: ComponentChildren;
  undo: Undo | undefined;
}

/** The successes of the last seconds that can be undone, and the last one. */
const toasts = signal<readonly Toast[]>([]);

const drawnToasts = createRef<HTMLDivElement>();

/** Failures by what they are about, each until somebody closes it, or until the same succeeds. */
const problems = signal<ReadonlyMap<string, ComponentChildren>>(new Map());

/** Shows the success of an action for some seconds. In this time, the reader can undo it. */
export function showToast(content: ComponentChildren, undo?: Undo): void {
  const toast = { content, undo };
  toasts.value = [...toasts.value.filter((it) => it.undo !== undefined), toast];
  endLater(toast);
}

function endLater(toast: Toast): void {
  setTimeout(() => {
    const isHeld = drawnToasts.current?.matches(":hover, :focus-within");
    if (isHeld) endLater(toast);
    else endToast(toast);
  }, toast.undo === undefined ? TOAST_MS : UNDO_MS);
}

function endToast(toast: Toast): void {
  toasts.value = toasts.value.filter((it) => it !== toast);
  restoreFocus();
}

function undoToast(toast: Toast): void {
  endToast(toast);
  toast.undo?.carryOut();
}

/** Undoes the last action that can be undone, so that the same key then undoes the one before it. */
function undoLast(): void {
  const last = lastToUndo();
  if (last === undefined) showToast("Nothing to undo");
  else undoToast(last);
}

function lastToUndo(): Toast | undefined {
  return toasts.value.findLast(mayUndo);
}

function mayUndo(toast: Toast): boolean {
  return toast.undo?.isPossible() ?? false;
}

/** Shows a failure, after the name of its subject if it has one. Without `about`, only the reader closes it. */
export function showProblem(error: unknown, about?: string, subject?: ComponentChildren): void {
  const { message } = error as Error;
  const content = subject === undefined ? message : <>{subject}: {message}</>;
  problems.value = new Map(problems.value).set(about ?? message, content);
}

/** Hides the failure about something, which has succeeded. */
export function endProblem(about: string): void {
  if (!problems.value.has(about)) return;
  const others = new Map(problems.value);
  others.delete(about);
  problems.value = others;
}

/** Carries out an action. Its success hides an earlier failure about the same. Resolves to whether it succeeded. */
export async function attempt(
  about: string,
  action: () => Promise<unknown>,
  showError: (error: unknown) => void = (error) => showProblem(error, about),
): Promise<boolean> {
  try {
    await action();
  } catch (error) {
    showError(error);
    return false;
  }
  endProblem(about);
  return true;
}

export function Messages(): JSX.Element {
  return (
    <>
      {problems.value.size > 0 && (
        <div class="problems">
          {[...problems.value].map(([about, content]) => (
            <Problem key={about} about={about} content={content} />
          ))}
        </div>
      )}
      <Toasts />
    </>
  );
}

function Problem({ about, content }: { about: string; content: ComponentChildren }): JSX.Element {
  return (
    <p class="problem" role="alert">
      <span>{content}</span>
      <button
        type="button"
        class="quiet"
        aria-label="Close this message"
        onClick={() => endProblem(about)}
      >
        <Icon name="close" />
      </button>
    </p>
  );
}

/** The last message and, if that cannot be undone, the last one that can. */
function Toasts(): JSX.Element {
  const last = toasts.value.findLast(({ undo }) => !undo?.isOver());
  const shown = new Set([last, lastToUndo()].filter((it) => it !== undefined));
  // Nobody can reach the button with the Tab key in time.
  usePageKeys((event) => {
    if (isUndoKey(event)) undoLast();
  });
  return (
    <div ref={drawnToasts} class="toasts" role="status">
      {[...shown].map((toast, index) => (
        <p key={index} class="toast">
          <span>{toast.content}</span>
          {mayUndo(toast) && <UndoButton onPress={() => undoToast(toast)} />}
        </p>
      ))}
    </div>
  );
}

function UndoButton({ onPress }: { onPress: () => void }): JSX.Element {
  // It may have the focus when there is nothing more to undo.
  useLayoutEffect(() => restoreFocus, []);
  return <button type="button" title="Undo (Ctrl+Z)" onClick={onPress}>Undo</button>;
}

function isUndoKey(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, shiftKey } = event;
  return latinKey(event) === "z" && (ctrlKey || metaKey) && !shiftKey;
}
