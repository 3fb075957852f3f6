/** The form that adds an animal. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { AnimalFields, faultsIn, focusFault } from "./animal_fields.tsx";
import { newIdempotencyKey, ResponseError } from "../data/api.ts";
import { Dialog, mayDiscard, openDialog, useIsOpen } from "../parts/dialog.tsx";
import { afterDraw } from "../parts/focus.ts";
import { EDITABLE_FIELDS, type Faults, parsePet, type Texts } from "../data/fields.ts";
import {
  attempt,
  problem as problemOfPage,
  showStillSaving,
  showToast,
} from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { useUnsaved } from "../data/unsaved.ts";
import { addAnimal } from "../data/write_animal.ts";

/** The response to the first try was lost, and then the reader changed the form. */
const ADDED_BEFORE =
  "The animal was added already, as you typed it before. Cancel this form, and change the animal in the list.";

/** Opens the form, which has some texts already. */
export function openAddDialog(texts: Texts = {}): void {
  openDialog((close) => <AddDialog first={{ ...AVAILABLE, ...texts }} close={close} />);
}

/** The status that most animals have when they are added. */
const AVAILABLE: Texts = { status: "available" };

interface AddDialogProps {
  /** The texts of the first animal before anybody types. */
  first: Texts;
  close: () => void;
}

function AddDialog({ first, close }: AddDialogProps): JSX.Element {
  /** The texts that nobody has typed for this animal. */
  const [given, setGiven] = useState<Texts>(first);
  const [texts, setTexts] = useState<Texts>(given);
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isSaving, setIsSaving] = useState(false);
  /** The name of the animal before this one. The form says that it was added, because it covers the messages of the page. */
  const [added, setAdded] = useState<string | undefined>(undefined);
  const form = useRef<HTMLDivElement>(null);
  const isOpen = useIsOpen();
  // A repeated request with the same key adds nothing.
  const headers = useRef({ "idempotency-key": newIdempotencyKey() });
  const isTyped = EDITABLE_FIELDS.some(({ name }) => (texts[name] ?? "") !== (given[name] ?? ""));
  useUnsaved(isTyped || isSaving);

  const showFaults = (found: Faults) => {
    setFaults(found);
    focusFault(form.current);
  };
  const beginNext = (name: string) => {
    setAdded(name);
    const next: Texts = { ...AVAILABLE, categoryId: texts.categoryId };
    setGiven(next);
    setTexts(next);
    headers.current = { "idempotency-key": newIdempotencyKey() };
    // The form is no longer busy then.
    afterDraw(() => form.current?.querySelector("input")?.focus());
  };
  const save = async (isLast: boolean) => {
    const parsed = parsePet(texts);
    if (!parsed.isSound) {
      showFaults(parsed.faults);
      return;
    }
    setFaults({});
    setIsSaving(true);
    const isAdded = await attempt(async () => {
      const added = await addAnimal(parsed.pet, headers.current);
      showToast(
        <>
          <Name of={added.before.name} /> was added
        </>,
      );
    }, (error) => {
      const found = faultsIn(error);
      if (!isOpen.current) showFailure(texts, error);
      else if (Object.keys(found).length > 0) showFaults(found);
      else setProblem(problemOf(error));
    });
    setIsSaving(false);
    if (!isAdded) return;
    if (isLast) close();
    else beginNext(parsed.pet.name);
  };
  const leave = () => {
    close();
    showStillSaving(texts.name ?? "");
  };
  const cancel = async () => {
    const isSure = await mayDiscard(isTyped, "Discard this animal?");
    if (isSure) close();
  };
  return (
    <Dialog
      title="Add an animal"
      no={added === undefined ? "Cancel" : "Done"}
      yes="Add"
      busy={isSaving ? "Saving …" : undefined}
      onLeave={leave}
      fault={problem}
      onYes={() => save(true)}
      further={{ label: "Add and next", onPress: () => save(false) }}
      onClose={cancel}
    >
      <div ref={form}>
        <p class="soft" role="status">
          {added !== undefined && (
            <>
              <Name of={added} /> was added. Add the next one.
            </>
          )}
        </p>
        <AnimalFields
          fields={EDITABLE_FIELDS}
          texts={texts}
          faults={faults}
          isSending={isSaving}
          onChange={(changed, found) => {
            setTexts(changed);
            setFaults(found);
            setProblem(undefined);
          }}
        />
      </div>
    </Dialog>
  );
}

/** The form was closed meanwhile, so the page says why the animal was not added. */
function showFailure(texts: Texts, error: unknown): void {
  const openAgain = () => {
    problemOfPage.value = undefined;
    openAddDialog(texts);
  };
  problemOfPage.value = (
    <>
      <Name of={texts.name ?? ""} />: {(error as Error).message}{" "}
      <button type="button" onClick={openAgain}>Open the form again</button>
    </>
  );
}

function problemOf(error: unknown): string {
  const isReused = error instanceof ResponseError && error.code === "idempotency_key_reused";
  return isReused ? ADDED_BEFORE : (error as Error).message;
}
