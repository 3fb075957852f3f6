/** Changes, removals and restores of one animal. If somebody else has changed the animal meanwhile, the reader decides. */

import type { Pet } from "../../../events/pet.ts";
import { undoing } from "./change_animals.tsx";
import { Changer } from "./by.tsx";
import { AnimalLink } from "../navigation/animal_link.tsx";
import { ask } from "../parts/dialog.tsx";
import { ChangeSentence } from "./change_sentence.tsx";
import { describePet, type Patch } from "../data/fields.ts";
import { endProblem, showProblem, showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import {
  beginWrites,
  changeOf,
  changing,
  type Ended,
  endWrites,
  isSamePet,
  previousOf,
  removalOf,
  restoreOf,
  type Write,
  type Written,
} from "../data/write_animal.ts";

const BUSY = "This animal is just being saved. Try again in a moment";

/**
 * Changes an animal which the reader sees as `shown`. Resolves to a conflict if somebody else has changed or removed it
 * meanwhile.
 */
export function changeAnimal(shown: Pet, patch: Patch): Promise<Written> {
  return carryOut(changeOf(shown, patch));
}

/** Sets fields at once. In a conflict, asks what to do. */
export async function changeOrAsk(shown: Pet, patch: Patch): Promise<void> {
  const theirs = await carryOutOrSay(changeOf(shown, patch));
  if (theirs === undefined) return;
  const isSure = await askInConflict(theirs, "Change anyway");
  if (isSure) await changeOrAsk(theirs, patch);
}

/** Removes an animal at once, because the message about it offers Undo. In a conflict, asks what to do. */
export async function removeOrAsk(shown: Pet): Promise<void> {
  // The second click of a double click.
  if (isBeingRemoved(shown.id)) return;
  const theirs = await carryOutOrSay(removalOf(shown));
  if (theirs === undefined) return;
  const isSure = await askInConflict(theirs, "Remove anyway");
  if (isSure) await removeOrAsk(theirs);
}

/** Restores an animal that the reader sees as it was before its removal. */
export async function restoreAnimal(removed: Pet): Promise<void> {
  await carryOutOrSay(restoreOf(removed));
}

/** Restores an animal with other fields. Rejects if somebody else has restored it meanwhile. */
export async function restoreWith(removed: Pet, patch: Patch): Promise<Written> {
  const restored = await carryOut(restoreOf(removed));
  if (Object.keys(patch).length === 0) return restored;
  return await changeAnimal(restored.after!, patch);
}

function askInConflict(theirs: Pet, yes: string): Promise<boolean> {
  return ask({
    title: (
      <>
        <Changer id={theirs.id} /> changed this animal
      </>
    ),
    text: <ItIsNow pet={theirs} />,
    no: "Keep theirs",
    yes,
  });
}

/** A removal sets no fields. */
function isBeingRemoved(id: number): boolean {
  const patch = changing.value.get(id);
  return patch !== undefined && Object.keys(patch).length === 0;
}

export function ItIsNow({ pet }: { pet: Pet }) {
  return (
    <>
      It is now <Name of={pet.name} />, {describePet(pet)}.
    </>
  );
}

/** A failure is a message of the page. Resolves to the animal as somebody else has changed it meanwhile. */
async function carryOutOrSay(write: Write): Promise<Pet | undefined> {
  const { id, name } = write.shown;
  try {
    const { kind, after } = await carryOut(write);
    if (kind === "done") return undefined;
    if (after === undefined) throw new Error("It was removed by somebody else");
    return after;
  } catch (error) {
    showProblem(error, aboutAnimal(id), <Name of={name} />);
    return undefined;
  }
}

function aboutAnimal(id: number): string {
  return `animal ${id}`;
}

async function carryOut(write: Write): Promise<Written> {
  const { shown, send } = write;
  if (changing.value.has(shown.id)) throw new Error(BUSY);
  const ended: Ended = { write };
  beginWrites([write]);
  let written: Written;
  try {
    written = await send();
    ended.written = written;
  } finally {
    await endWrites([ended]);
  }
  // Not before the animal is free again: the message offers Undo, which is refused while it is being saved.
  if (written.kind === "done") {
    endProblem(aboutAnimal(shown.id));
    showDone(written);
  }
  return written;
}

/** If somebody else has made the same change before, nothing was done that could be undone. */
function showDone(written: Written): void {
  const { before, after, isRestore } = written;
  if (isRestore) {
    showToast(
      <>
        <AnimalLink id={before.id} name={before.name} /> was restored
      </>,
    );
    return;
  }
  if (after !== undefined && isSamePet(before, after)) {
    showToast(
      <>
        <Name of={before.name} /> was like this already
      </>,
    );
    return;
  }
  showToast(<WhatWasDone done={written} />, undoing([written]));
}

function WhatWasDone({ done: { before, after } }: { done: Written }) {
  if (after === undefined) {
    return (
      <>
        <Name of={before.name} /> was removed
      </>
    );
  }
  return (
    <ChangeSentence
      name={<Name of={before.name} />}
      after={after}
      previous={previousOf(before, after)}
    />
  );
}
