/** The dialogs of the page. A dialog that opens while another one is open is drawn above it. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { connectionProblem } from "./connection.ts";
import { restoreFocus } from "./focus.ts";

/** Nobody has to wait longer for a dialog that is busy. */
const LONGEST_WAIT_MS = 3_000;

interface OpenDialog {
  id: number;
  draw: (close: () => void) => JSX.Element;
}

/** The lowest one first. */
const dialogs = signal<readonly OpenDialog[]>([]);
let lastId = 0;

/** Opens a dialog: `draw` returns a component whose root is a {@linkcode Dialog}. Returns a function that closes it. */
export function openDialog(draw: OpenDialog["draw"]): () => void {
  const id = ++lastId;
  dialogs.value = [...dialogs.value, { id, draw }];
  return () => closeDialog(id);
}

function closeDialog(id: number): void {
  dialogs.value = dialogs.value.filter((it) => it.id !== id);
}

export function Dialogs(): JSX.Element {
  return (
    <>
      {dialogs.value.map(({ id, draw }) => (
        <Drawn
          key={id}
          draw={() => draw(() => closeDialog(id))}
        />
      ))}
    </>
  );
}

function Drawn({ draw }: { draw: () => JSX.Element }): JSX.Element {
  return draw();
}

interface DialogProps {
  title: ComponentChildren;
  /** The button that closes the dialog. Without it, nobody can close the dialog. */
  no?: string;
  /** The button that carries out the action of the dialog. */
  yes?: string;
  /** The work of the dialog at the moment, such as "Saving …". Nobody can close it meanwhile, unless `onLeave` is there. */
  busy?: string;
  /** Closes the dialog while it is busy, if that takes long. Its work continues. */
  onLeave?: () => void;
  /** Whether `yes` may be final. Then `no` has the focus. */
  isDangerous?: boolean;
  /** Whether the dialog has much to show. */
  isWide?: boolean;
  /** The reason if it failed. */
  fault?: ComponentChildren;
  onYes?: () => void;
  /** A further button, also for Ctrl+Enter, which does what `yes` does and then something else. */
  further?: { label: string; onPress: () => void };
  /** Called for the button `no` and for Escape. */
  onClose?: () => void;
  children?: ComponentChildren;
}

export function Dialog(props: DialogProps): JSX.Element {
  const { title, no, yes, busy, onLeave, isDangerous, isWide, fault, onYes, further, children } =
    props;
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => {
      dialog.close();
      restoreFocus();
    };
  }, []);
  const isBusy = busy !== undefined;
  const mayLeave = useLongWait(isBusy) && onLeave !== undefined;
  const close = () => {
    if (!isBusy) props.onClose?.();
    else if (mayLeave) onLeave();
  };
  const doFurther = () => {
    if (!isBusy) further?.onPress();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The key belongs to an input method.
    if (event.isComposing) return;
    if (further !== undefined && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      doFurther();
    }
    if (event.key !== "Escape") return;
    // Otherwise the browser closes the dialog at the second Escape, also while it is busy.
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const stayOpen = () => {
    // A browser may close a dialog whatever the page says, for example at the second step back on a phone.
    const { isConnected, open } = element.current ?? {};
    if (isConnected && !open) element.current?.showModal();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (!isBusy) onYes?.();
  };
  return (
    <dialog
      ref={element}
      class={isWide ? "wide" : ""}
      aria-labelledby={titleId}
      aria-busy={isBusy}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        // On a phone, the step back closes a dialog.
        event.preventDefault();
        close();
      }}
      onClose={stayOpen}
    >
      <form method="dialog" noValidate onSubmit={onSubmit}>
        <h2 id={titleId} class="title">{title}</h2>
        {children}
        <p class="fault" role="alert">{fault}</p>
        <p class="buttons">
          <span class="soft" role="status">{isBusy && (connectionProblem.value || busy)}</span>
          {no !== undefined && (
            <button
              type="button"
              autofocus={isDangerous}
              disabled={isBusy && !mayLeave}
              onClick={close}
            >
              {mayLeave ? "Save in the background" : no}
            </button>
          )}
          {further !== undefined && (
            <button
              type="button"
              aria-disabled={isBusy}
              aria-keyshortcuts="Control+Enter Meta+Enter"
              title="Ctrl+Enter"
              onClick={doFurther}
            >
              {further.label}
            </button>
          )}
          {yes !== undefined && (
            <button type="submit" class={isDangerous ? "danger" : "primary"} aria-disabled={isBusy}>
              {yes}
            </button>
          )}
        </p>
      </form>
    </dialog>
  );
}

/** Whether something takes long. */
function useLongWait(isBusy: boolean): boolean {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    if (!isBusy) return;
    const timer = setTimeout(() => setIsLong(true), LONGEST_WAIT_MS);
    return () => {
      clearTimeout(timer);
      setIsLong(false);
    };
  }, [isBusy]);
  return isLong;
}

/** Whether the dialog that calls it is still open. Its work may end later. */
export function useIsOpen(): { readonly current: boolean } {
  const isOpen = useRef(true);
  useLayoutEffect(() => () => {
    isOpen.current = false;
  }, []);
  return isOpen;
}

export interface Question {
  title: ComponentChildren;
  text: ComponentChildren;
  no: string;
  yes: string;
}

/** Asks a question. Resolves to whether the reader chose `yes`. `no` has the focus, because `yes` may be final. */
export function ask({ title, text, no, yes }: Question): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  openDialog((close) => {
    const answer = (isYes: boolean) => {
      close();
      resolve(isYes);
    };
    return (
      <Dialog
        title={title}
        no={no}
        yes={yes}
        isDangerous
        onYes={() => answer(true)}
        onClose={() => answer(false)}
      >
        <p>{text}</p>
      </Dialog>
    );
  });
  return promise;
}

/** Resolves to whether a form may be closed. If the reader would lose typed text, it asks first. */
export async function mayDiscard(isTyped: boolean, title: ComponentChildren): Promise<boolean> {
  if (!isTyped) return true;
  return await ask({
    title,
    text: "What you typed would be lost.",
    no: "Keep typing",
    yes: "Discard",
  });
}
