/** The form that adds an animal, or changes one. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { NewPet, Pet } from "../../../events/pet.ts";
import { AnimalFields, faultsIn, focusFault } from "./animal_fields.tsx";
import { isRemoved, petOf } from "../data/animals.ts";
import { Changer } from "./by.tsx";
import { newIdempotencyKey, ResponseError } from "../data/api.ts";
import { changeAnimal, ItIsNow, restoreWith } from "./change_animal.tsx";
import { faultOfCategoryName, idAboveKnown, isNewCategoryName } from "../data/categories.ts";
import { Dialog, mayDiscard, openDialog } from "../parts/dialog.tsx";
import { afterDraw } from "../parts/focus.ts";
import {
  EDITABLE_FIELDS,
  type Faults,
  parseChange,
  parsePet,
  type Texts,
  textsOf,
} from "../data/fields.ts";
import { showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { useUnsaved } from "../data/unsaved.ts";
import { addAnimal, changing, isSamePet, type Written } from "../data/write_animal.ts";
import { addUnusedCategory } from "../data/write_category.ts";

/** The response to the first try was lost, and then the reader changed the form. */
const ADDED_BEFORE =
  "The animal was added already, as you typed it before. Cancel this form, and change the animal in the list.";

/** The status that most animals have when they are added. */
const AVAILABLE: Texts = { status: "available" };

/** Opens the form for a new animal. It has some texts already. */
export function openAddDialog(texts: Texts = {}): void {
  openDialog((close) => <AnimalDialog first={{ ...AVAILABLE, ...texts }} close={close} />);
}

/** Opens the form for a change of an animal. */
export function openEditDialog(pet: Pet): void {
  openDialog((close) => <AnimalDialog shown={pet} first={textsOf(pet)} close={close} />);
}

interface AnimalDialogProps {
  /** The animal as the reader sees it; `undefined` to add one. */
  shown?: Pet;
  /** The texts before anybody types. */
  first: Texts;
  close: () => void;
}

/** Sends what was typed. `category` replaces the category of that. */
type Send = (category: Pick<NewPet, "categoryId"> | undefined) => Promise<Written>;

/** Without `send`, there is nothing to send. */
type Prepared = { isSound: true; send?: Send } | { isSound: false; faults: Faults };

function AnimalDialog({ shown, first, close }: AnimalDialogProps): JSX.Element {
  /** The texts that nobody has typed for this animal. */
  const [given, setGiven] = useState<Texts>(first);
  const [texts, setTexts] = useState<Texts>(given);
  /** The name of a category that the reader adds with the animal, as long as it is the text of the field. */
  const [newName, setNewName] = useState<string | undefined>(undefined);
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<string | undefined>(undefined);
  /** The animal that a change may replace: as somebody else has made it, if the reader was asked. */
  const [agreed, setAgreed] = useState<Pet | undefined>(shown);
  /** The animal as the fields have it in which nobody has typed. */
  const [latest, setLatest] = useState<Pet | undefined>(shown);
  const [isAsked, setIsAsked] = useState(false);
  const [isSaving, setIsSaving] = useState(false);
  const isLeft = useSignal(false);
  /** The name of the animal before this one. The form says that it was added, because it covers the messages of the page. */
  const [added, setAdded] = useState<string | undefined>(undefined);
  const form = useRef<HTMLDivElement>(null);
  // A repeated request with the same key adds nothing.
  const headers = useRef({ "idempotency-key": newIdempotencyKey() });
  const isNewCategory = texts.categoryId === newName && isNewCategoryName(newName ?? "");
  const isGone = shown !== undefined && isRemoved(shown.id);
  const isAddition = shown === undefined;
  const isTyped = Object.keys(typedTexts(texts, given)).length > 0;
  useUnsaved(isTyped || isSaving);
  const known = shown && petOf(shown.id);
  const isOwnChange = shown !== undefined && changing.value.has(shown.id);
  useLayoutEffect(() => {
    // While the form is saving, the animal may already be as it makes it.
    if (isSaving || known === undefined || known === latest) return;
    const theirTexts = textsOf(known);
    setLatest(known);
    setGiven(theirTexts);
    setTexts({ ...theirTexts, ...typedTexts(texts, given) });
    // The reader knows what another control of the page does, and who was asked sees what comes.
    if (isOwnChange || isAsked) setAgreed(known);
  }, [known, isSaving]);

  const showFaults = (found: Faults) => {
    setFaults(found);
    focusFault(form.current);
  };
  const beginNext = () => {
    setAdded(texts.name);
    const next: Texts = { ...AVAILABLE, categoryId: texts.categoryId };
    setGiven(next);
    setTexts(next);
    headers.current = { "idempotency-key": newIdempotencyKey() };
    // The form is no longer busy then.
    afterDraw(() => form.current?.querySelector("input")?.focus());
  };
  const prepare = (): Prepared => {
    // The category has no id yet.
    const complete = isNewCategory ? { ...texts, categoryId: String(idAboveKnown()) } : texts;
    const prepared = isAddition
      ? additionOf(complete, headers.current)
      : changeOfTexts({ latest: latest!, agreed: agreed!, isGone }, complete);
    const fault = isNewCategory ? faultOfCategoryName(newName!) : undefined;
    if (fault === undefined) return prepared;
    const others = prepared.isSound ? {} : prepared.faults;
    return { isSound: false, faults: { ...others, categoryId: fault } };
  };
  const send = async (sendPrepared: Send, isLast: boolean) => {
    const category = isNewCategory ? { categoryId: await addUnusedCategory(newName!) } : undefined;
    const { kind, after } = await sendPrepared(category);
    if (kind === "conflict") {
      setAgreed(after ?? agreed);
      setIsAsked(true);
    } else if (isLast || isLeft.value) close();
    else beginNext();
  };
  const save = async (isLast: boolean) => {
    const prepared = prepare();
    if (!prepared.isSound) {
      showFaults(prepared.faults);
      return;
    }
    if (prepared.send === undefined) {
      close();
      return;
    }
    setFaults({});
    setProblem(undefined);
    setIsSaving(true);
    try {
      await send(prepared.send, isLast);
    } catch (error) {
      const found = faultsIn(error);
      if (Object.keys(found).length > 0) showFaults(found);
      else setProblem(problemOf(error));
    } finally {
      setIsSaving(false);
    }
  };
  const cancel = async () => {
    const isSure = await mayDiscard(
      isTyped,
      shown === undefined ? "Discard this animal?" : (
        <>
          Discard the change of <Name of={shown.name} />?
        </>
      ),
    );
    if (isSure) close();
  };
  const isOther = isAsked || latest !== undefined && !isSamePet(latest, agreed!);
  const words = wordsOfSituation({ shown, isGone, isAsked, theirs: isOther ? latest : undefined });
  const [firstFault] = Object.values(faults);
  return (
    <Dialog
      title={shown === undefined ? "Add an animal" : (
        <>
          Edit <Name of={shown.name} />
        </>
      )}
      no={added === undefined ? "Cancel" : "Done"}
      yes={words.yes}
      busy={isSaving ? "Saving …" : undefined}
      background={{ subject: <Name of={texts.name ?? ""} />, isLeft }}
      isDangerous={!isAddition && isAsked}
      fault={problem ?? words.fault ?? (isLeft.value && firstFault)}
      onYes={() => save(true)}
      further={shown === undefined
        ? { label: "Add and next", onPress: () => save(false) }
        : undefined}
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
          isNewCategory={isNewCategory}
          newCategoryHint="A new category, which is added with the animal"
          isSending={isSaving}
          onChange={(changed, found) => {
            setTexts(changed);
            setFaults(found);
            setProblem(undefined);
          }}
          onNewCategory={setNewName}
          onFault={(fault) => setFaults((others) => ({ ...others, ...fault }))}
        />
      </div>
    </Dialog>
  );
}

interface Situation {
  shown: Pet | undefined;
  isGone: boolean;
  /** Whether somebody else's change has stopped a save. */
  isAsked: boolean;
  /** The animal as somebody else has made it meanwhile. */
  theirs: Pet | undefined;
}

/** The button that saves, and what somebody else has done meanwhile. */
function wordsOfSituation(
  { shown, isGone, isAsked, theirs }: Situation,
): { yes: string; fault?: JSX.Element } {
  if (shown === undefined) return { yes: "Add" };
  if (isGone) {
    return {
      yes: "Restore and save",
      fault: (
        <>
          <Name of={shown.name} /> was removed meanwhile.
        </>
      ),
    };
  }
  if (theirs === undefined) return { yes: "Save" };
  return {
    yes: isAsked ? "Change anyway" : "Save",
    fault: (
      <>
        <Changer id={shown.id} /> changed this animal. <ItIsNow pet={theirs} />
      </>
    ),
  };
}

function additionOf(texts: Texts, headers: Record<string, string>): Prepared {
  const parsed = parsePet(texts);
  if (!parsed.isSound) return parsed;
  const send: Send = async (category) => {
    const added = await addAnimal({ ...parsed.pet, ...category }, headers);
    showToast(
      <>
        <Name of={added.before.name} /> was added
      </>,
    );
    return added;
  };
  return { isSound: true, send };
}

/** The texts that somebody has typed, or has chosen. */
function typedTexts(texts: Texts, given: Texts): Texts {
  const typed = EDITABLE_FIELDS.filter(({ name }) => (texts[name] ?? "") !== (given[name] ?? ""));
  return Object.fromEntries(typed.map(({ name }) => [name, texts[name]]));
}

interface Bases {
  /** The texts are a change of this animal. */
  latest: Pet;
  /** The change is sent only if the animal is like this. */
  agreed: Pet;
  /** Whether it was removed meanwhile. Then it is restored first. */
  isGone: boolean;
}

function changeOfTexts({ latest, agreed, isGone }: Bases, texts: Texts): Prepared {
  const parsed = parseChange(latest, texts);
  if (!parsed.isSound) return parsed;
  const { patch } = parsed;
  if (Object.keys(patch).length === 0 && !isGone) return { isSound: true };
  const send: Send = (category) => {
    const all = { ...patch, ...category };
    return isGone ? restoreWith(latest, all) : changeAnimal(agreed, all);
  };
  return { isSound: true, send };
}

function problemOf(error: unknown): string {
  const isReused = error instanceof ResponseError && error.code === "idempotency_key_reused";
  return isReused ? ADDED_BEFORE : (error as Error).message;
}
