/** Messages about the last action, in a corner: its success for some seconds, its failure until it is closed. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Icon } from "./icon.tsx";

const TOAST_MS = 4_000;

/** The success of the last action. */
const toast = signal<ComponentChildren>(undefined);

/** The reason if the last action failed. */
export const problem = signal<ComponentChildren>(undefined);

let hiding: ReturnType<typeof setTimeout>;

/** Says what was done, for some seconds. */
export function showToast(content: ComponentChildren): void {
  clearTimeout(hiding);
  toast.value = content;
  hiding = setTimeout(() => toast.value = undefined, TOAST_MS);
}

export function showProblem(error: unknown): void {
  problem.value = (error as Error).message;
}

/** Carries out what the reader asks for. With its success, an earlier failure is over. Resolves to whether it succeeded. */
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
    <div class="messages">
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
      <p class="toast" role="status">{toast}</p>
    </div>
  );
}
