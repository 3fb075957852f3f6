/** Changes and removals of one animal. If somebody else has changed the animal meanwhile, the reader decides. */

import type { Pet } from "../../../events/pet.ts";
import { undo } from "./change_animals.tsx";
import { ask } from "../parts/dialog.tsx";
import { ChangeSentence } from "./change_sentence.tsx";
import { describePet, type Patch } from "../data/fields.ts";
import { attempt, problem, showProblem, showToast } from "../parts/messages.tsx";
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
  type Write,
  type Written,
} from "../data/write_animal.ts";

const BUSY = "This animal is just being saved. Try again in a moment";

/** The outcome of a change: `theirs` is the animal as somebody else has made it meanwhile. */
type ChangeOutcome = { kind: "done" } | { kind: "failed" } | { kind: "conflict"; theirs: Pet };

/**
 * Changes an animal which the reader sees as `shown`, unless somebody else has changed it meanwhile. `showError` shows a
 * failure; by default, it is a message of the page.
 */
export function changeAnimal(
  shown: Pet,
  patch: Patch,
  showError?: (error: unknown) => void,
): Promise<ChangeOutcome> {
  return carryOut(changeOf(shown, patch), showError);
}

/** Sets fields at once. In a conflict, asks what to do. */
export async function changeOrAsk(shown: Pet, patch: Patch): Promise<void> {
  const outcome = await changeAnimal(shown, patch);
  if (outcome.kind !== "conflict") return;
  const { theirs } = outcome;
  const isSure = await ask({
    title: "Somebody else changed this animal",
    text: <ItIsNow pet={theirs} />,
    no: "Keep theirs",
    yes: "Change anyway",
  });
  if (isSure) await changeOrAsk(theirs, patch);
}

/** Removes an animal at once, because the message about it offers Undo. In a conflict, asks what to do. */
export async function removeOrAsk(shown: Pet): Promise<void> {
  // The second click of a double click.
  if (isBeingRemoved(shown.id)) return;
  const outcome = await carryOut(removalOf(shown));
  if (outcome.kind !== "conflict") return;
  const { theirs } = outcome;
  const isSure = await ask({
    title: "Somebody else changed this animal",
    text: <ItIsNow pet={theirs} />,
    no: "Keep theirs",
    yes: "Remove anyway",
  });
  if (isSure) await removeOrAsk(theirs);
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

async function carryOut(
  write: Write,
  showError: (error: unknown) => void = showProblem,
): Promise<ChangeOutcome> {
  const { shown, send } = write;
  if (changing.value.has(shown.id)) {
    showError(new Error(BUSY));
    return { kind: "failed" };
  }
  const ended: Ended = { write };
  beginWrites([write]);
  await attempt(async () => {
    ended.written = await send();
  }, showError);
  const { written } = ended;
  await endWrites([ended]);
  if (written === undefined) return { kind: "failed" };
  if (written.kind === "done") {
    showDone(written);
    return { kind: "done" };
  }
  if (written.after !== undefined) return { kind: "conflict", theirs: written.after };
  problem.value = (
    <>
      <Name of={shown.name} /> was removed by somebody else
    </>
  );
  return { kind: "failed" };
}

/** If somebody else has made the same change before, nothing was done that could be undone. */
function showDone(written: Written): void {
  const { before, after } = written;
  if (after !== undefined && isSamePet(before, after)) {
    showToast(
      <>
        <Name of={before.name} /> was like this already
      </>,
    );
    return;
  }
  showToast(<WhatWasDone done={written} />, () => undo([written]));
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
