/** The form of an edit, in the row of its animal or on its page. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Pet } from "../../../events/pet.ts";
import { AnimalFields, faultsIn, focusFault } from "./animal_fields.tsx";
import { isRemoved } from "../data/animals.ts";
import { changeAnimal, ItIsNow } from "./change_animal.tsx";
import { ask, mayDiscard } from "../parts/dialog.tsx";
import { changeEdit, type Edit, removeEdit, setEdit } from "../data/edits.ts";
import { afterDraw, restoreFocus } from "../parts/focus.ts";
import { EDITABLE_FIELDS, type Faults, parseChange, textsOf } from "../data/fields.ts";
import { showProblem } from "../parts/messages.tsx";
import { Name, spokenName } from "../parts/name.tsx";
import { useUnsaved } from "../data/unsaved.ts";

/** The status has a control of its own in both places. */
const EDITED = EDITABLE_FIELDS.filter(({ name }) => name !== "status");

export function beginEdit(pet: Pet): void {
  const texts = Object.fromEntries(EDITED.map(({ name }) => [name, textsOf(pet)[name]]));
  setEdit(pet.id, { base: pet, texts, faults: {}, isSaving: false, theirs: undefined });
  afterDraw(() => {
    document.querySelector<HTMLElement>(`[data-id="${pet.id}"] input`)?.focus();
  });
}

/** Whether the reader has typed anything. */
function isTyped({ base, texts }: Edit): boolean {
  const before = textsOf(base);
  return EDITED.some(({ name }) => texts[name] !== before[name]);
}

interface EditFormProps {
  edit: Edit;
  /** The reason if the animal is not in the list any more. */
  why: string | undefined;
  /** Whether there is room for the labels of the fields. */
  hasLabels?: boolean;
}

export function EditForm({ edit, why, hasLabels = false }: EditFormProps): JSX.Element {
  const { base: { id, name }, texts, faults, isSaving, theirs } = edit;
  const isGone = isRemoved(id);
  const form = useRef<HTMLFormElement>(null);
  useUnsaved(isTyped(edit));

  const close = async () => {
    if (isSaving) return;
    // Nobody can save a change of an animal that was removed.
    const isLost = isTyped(edit) && !isGone;
    const isSure = await mayDiscard(
      isLost,
      (
        <>
          Discard the change of <Name of={name} />?
        </>
      ),
    );
    if (isSure) leave(id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    // Otherwise the key would also close the dialog that it opens.
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const showFaults = (found: Faults) => {
    changeEdit(id, { faults: found });
    focusFault(form.current);
  };
  return (
    <form
      ref={form}
      noValidate
      aria-busy={isSaving}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isGone && !isSaving) save(edit, showFaults);
      }}
    >
      <AnimalFields
        fields={EDITED}
        texts={texts}
        faults={faults}
        isSending={isSaving}
        hiddenLabelsOf={hasLabels ? undefined : spokenName(name)}
        onChange={(changed, found) => changeEdit(id, { texts: changed, faults: found })}
      />
      <span class="buttons">
        <button type="button" disabled={isSaving} onClick={close}>
          {isGone ? "Close" : "Cancel"}
        </button>
        {!isGone && (
          <button type="submit" class="primary" aria-disabled={isSaving}>
            {isSaving ? "Saving …" : "Save"}
          </button>
        )}
      </span>
      <p class="fault" role="alert">
        {why !== undefined && (
          <>
            <Name of={name} /> {why}
          </>
        )}
        {why === undefined && theirs !== undefined && (
          <>
            Somebody else changed this animal. <ItIsNow pet={theirs} />
          </>
        )}
      </p>
    </form>
  );
}

async function save({ base, texts, theirs }: Edit, showFaults: (faults: Faults) => void) {
  const { id } = base;
  const parsed = parseChange(base, texts);
  if (!parsed.isSound) {
    showFaults(parsed.faults);
    return;
  }
  if (Object.keys(parsed.patch).length === 0) {
    leave(id);
    return;
  }
  changeEdit(id, { isSaving: true });
  const outcome = await changeAnimal(theirs ?? base, parsed.patch, (error) => {
    const found = faultsIn(error);
    if (Object.keys(found).length > 0) showFaults(found);
    else showProblem(error);
  });
  changeEdit(id, { isSaving: false });
  if (outcome.kind === "done") leave(id);
  if (outcome.kind !== "conflict") return;
  const isSure = await ask({
    title: "Somebody else changed this animal",
    text: <ItIsNow pet={outcome.theirs} />,
    no: "Keep editing",
    yes: "Change anyway",
  });
  const after = { base, texts, faults: {}, isSaving: false, theirs: outcome.theirs };
  changeEdit(id, after);
  if (isSure) await save(after, showFaults);
}

/** Ends an edit. The row gets the focus back. */
function leave(id: number): void {
  const hadFocus = document.activeElement?.closest(`[data-id="${id}"]`) !== null;
  removeEdit(id);
  if (!hadFocus) return;
  afterDraw(() => {
    document.querySelector<HTMLElement>(`[data-id="${id}"] a`)?.focus({ preventScroll: true });
    restoreFocus();
  });
}
