/**
 * The dialogs of the page. A dialog that opens while another one is open is drawn above it. One that was left to the
 * background is a line below the list, until its work is done.
 */

import { type Signal, signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { connectionProblem } from "./connection.ts";
import { restoreFocus, useHome } from "./focus.ts";
import { afterFilled, Form } from "./form.tsx";
import { belongsToInputMethod } from "./keys.ts";
import { useLayer } from "./page_keys.ts";

/** Nobody has to wait longer for a dialog that is busy, nor so long without a connection. */
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
  /** The work of the dialog at the moment, such as "Saving …". Nobody can close it meanwhile. */
  busy?: string;
  /** If it is there, a dialog whose work takes long can be left to the background. */
  background?: Background;
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

interface Background {
  /** What the dialog is about, at the beginning of its line. */
  subject: ComponentChildren;
  /** Whether the dialog is only a line. Its work continues. */
  isLeft: Signal<boolean>;
}

export function Dialog(props: DialogProps): JSX.Element {
  const { busy, background, fault } = props;
  const isSlow = useLongWait(busy !== undefined);
  const isLong = isSlow || Boolean(connectionProblem.value);
  if (!background?.isLeft.value) return <ShownDialog {...props} isLong={isLong} />;
  const { subject, isLeft } = background;
  const isBusy = busy !== undefined;
  return (
    // A failure is another element, so that it is read out.
    <p key={isBusy} class={isBusy ? "toast" : "problem"} role={isBusy ? "status" : "alert"}>
      <span>{subject}: {isBusy ? connectionProblem.value || busy : fault}</span>
      <button type="button" onClick={() => isLeft.value = false}>Open the form again</button>
    </p>
  );
}

function ShownDialog(props: DialogProps & { isLong: boolean }): JSX.Element {
  const { title, no, yes, busy, background, isDangerous, isWide, fault, further } = props;
  const element = useRef<HTMLDialogElement>(null);
  const noButton = useRef<HTMLButtonElement>(null);
  const yesButton = useRef<HTMLButtonElement>(null);
  useHome(noButton, no !== undefined);
  useHome(yesButton, yes !== undefined);
  useLayer(element);
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
  useLayoutEffect(() => {
    if (isDangerous && !isBusy) noButton.current?.focus();
  }, [isDangerous, isBusy]);
  const mayLeave = isBusy && props.isLong && background !== undefined;
  const close = () => {
    if (mayLeave) background.isLeft.value = true;
    else if (!isBusy) props.onClose?.();
  };
  // A text that was filled in is not lost without a question.
  const latestClose = useRef(close);
  latestClose.current = close;
  const closeFilled = () => afterFilled(element.current, () => latestClose.current());
  const doFurther = () => {
    if (!isBusy) further?.onPress();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (belongsToInputMethod(event)) return;
    if (further !== undefined && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      doFurther();
    }
    if (event.key !== "Escape") return;
    // Otherwise the browser closes the dialog at the second Escape, also while it is busy.
    event.preventDefault();
    event.stopPropagation();
    closeFilled();
  };
  const stayOpen = () => {
    // A browser may close a dialog whatever the page says, for example at the second step back on a phone.
    const { isConnected, open } = element.current ?? {};
    if (isConnected && !open) element.current?.showModal();
  };
  return (
    <dialog
      ref={element}
      class={isWide ? "wide" : ""}
      aria-labelledby={titleId}
      aria-busy={isBusy}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        // That of a control for files says only that no file was chosen.
        if (event.target !== event.currentTarget) return;
        // On a phone, the step back closes a dialog.
        event.preventDefault();
        closeFilled();
      }}
      onClose={stayOpen}
    >
      <Form method="dialog" onSend={() => !isBusy && props.onYes?.()}>
        <h2 id={titleId} class="title">{title}</h2>
        {props.children}
        <p class="fault" role="alert">{fault}</p>
        <p class="buttons">
          <span class="soft" role="status">{isBusy && (connectionProblem.value || busy)}</span>
          {no !== undefined && (
            <button
              ref={noButton}
              type="button"
              disabled={isBusy && !mayLeave}
              onClick={closeFilled}
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
            <button
              ref={yesButton}
              type="submit"
              class={isDangerous ? "danger" : "primary"}
              aria-disabled={isBusy}
            >
              {yes}
            </button>
          )}
        </p>
      </Form>
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

export interface Question {
  title: ComponentChildren;
  text: ComponentChildren;
  no: string;
  yes: string;
  /** Whether `yes` destroys nothing. */
  isHarmless?: boolean;
}

/** Asks a question. Resolves to whether the reader chose `yes`. `no` has the focus. */
export function ask({ title, text, no, yes, isHarmless = false }: Question): Promise<boolean> {
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
        isDangerous={!isHarmless}
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
