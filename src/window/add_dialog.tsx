/** The form that adds an animal. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Pet } from "../../events/pet.ts";
import { AnimalFields, faultsIn, focusFault } from "./animal_fields.tsx";
import { applyChanges } from "./animals.ts";
import { newIdempotencyKey, ResponseError, write } from "./api.ts";
import { Dialog, mayDiscard, openDialog } from "./dialog.tsx";
import { afterDraw } from "./focus.ts";
import { EDITABLE_FIELDS, type Faults, parsePet, type Texts } from "./fields.tsx";
import { attempt, showToast } from "./messages.tsx";
import { Name } from "./name.tsx";
import { useUnsaved } from "./unsaved.ts";

/** The response to the first try was lost, and then the reader changed the form. */
const ADDED_BEFORE =
  "The animal was added already, as you typed it before. Cancel this form, and change the animal in the list.";

export function openAddDialog(): void {
  openDialog((close) => <AddDialog close={close} />);
}

/** The status that most animals have when they are added. */
const AVAILABLE: Texts = { status: "available" };

function AddDialog({ close }: { close: () => void }): JSX.Element {
  /** The texts that nobody has typed for this animal. */
  const [given, setGiven] = useState<Texts>(AVAILABLE);
  const [texts, setTexts] = useState<Texts>(given);
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isSaving, setIsSaving] = useState(false);
  /** The name of the last animal if the form stayed open for the next one. It covers the messages of the page. */
  const [added, setAdded] = useState<string | undefined>(undefined);
  const form = useRef<HTMLDivElement>(null);
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
      const { body: pet } = await write<Pet>("POST", "pets", parsed.pet, headers.current);
      applyChanges([{ pet, isRemoved: false, isOwn: true }]);
      showToast(
        <>
          <Name of={pet.name} /> was added
        </>,
      );
    }, (error) => {
      const found = faultsIn(error);
      if (Object.keys(found).length > 0) showFaults(found);
      else setProblem(problemOf(error));
    });
    setIsSaving(false);
    if (!isAdded) return;
    if (isLast) close();
    else beginNext(parsed.pet.name);
  };
  const cancel = async () => {
    const isSure = await mayDiscard(isTyped, "Discard this animal?");
    if (isSure) close();
  };
  return (
    <Dialog
      title="Add an animal"
      no="Cancel"
      yes="Add"
      busy={isSaving ? "Saving …" : undefined}
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

function problemOf(error: unknown): string {
  const isReused = error instanceof ResponseError && error.code === "idempotency_key_reused";
  return isReused ? ADDED_BEFORE : (error as Error).message;
}
