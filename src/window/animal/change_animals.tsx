/** Changes, removals and restores of several animals at once, and their undo. Each animal has an outcome of its own. */

import { computed, type Signal, signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Pet, PetStatus } from "../../../events/pet.ts";
import { activeId } from "../data/active_id.ts";
import { isRemoved, refreshAnimals } from "../data/animals.ts";
import { isOfNone, isOvertaken } from "../data/api.ts";
import type { RemovedPet } from "../data/removed.ts";
import { CategoryName, DistinctCategory } from "../categories/category_name.tsx";
import { nameOfCategory } from "../data/categories.ts";
import { hasAnimals } from "../data/write_category.ts";
import { AnimalLink } from "../navigation/animal_link.tsx";
import { animals, animalsWere, grouped } from "../parts/count_words.ts";
import { ask, Dialog, openDialog } from "../parts/dialog.tsx";
import { afterDraw, focusHome, isFocusFree } from "../parts/focus.ts";
import { differencesOf, type Patch, statusInSentence, statusLabel } from "../data/fields.ts";
import { showToast, type Undo } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import {
  beginWrites,
  changeOf,
  changing,
  type Ended,
  endWrites,
  previousOf,
  removalOf,
  restoreOf,
  undoOf,
  whyNotRestored,
  type Write,
  type Written,
} from "../data/write_animal.ts";
import { type Answer, sendInBatches } from "../data/write_batch.ts";

/** More animals take a while. */
const MOST_WITHOUT_QUESTION = 200;

/** A run may fail for all of many animals. */
const FAILURES_SHOWN = 100;

const CHANGED = "Somebody else changed it meanwhile";
const REMOVED = "Somebody else removed it meanwhile";
const BUSY = "It was just being saved";

/** The writes to several animals, from the first request to the last response. */
interface Run {
  words: string;
  total: number;
  /** The number of animals that have an outcome. */
  done: Signal<number>;
  /** Whether the reader has stopped it: the request in flight is the last one. */
  isStopped: boolean;
}

/** The run that began last is the last one. */
const runs = signal<readonly Run[]>([]);

/** The progress of the run that began last; `undefined` if there is none. */
export const progress = computed(() => {
  const last = runs.value.at(-1);
  if (last === undefined) return undefined;
  return { words: last.words, done: last.done.value, total: last.total };
});

/** Stops the run whose progress is shown. */
export function stop(): void {
  const last = runs.value.at(-1);
  if (last !== undefined) last.isStopped = true;
}

interface Failure {
  pet: Pet;
  why: string;
}

/** The outcomes of several writes. */
interface Outcomes {
  done: Written[];
  failures: Failure[];
  notSent: number;
}

/** Sets the status of the animals that have another one. */
export async function changeStatus(
  pets: readonly Pet[],
  status: PetStatus | undefined,
): Promise<void> {
  const others = pets.filter((pet) => pet.status !== status);
  const isSure = others.length <= MOST_WITHOUT_QUESTION || await ask({
    title: `Mark ${animals(others.length)} as “${statusLabel(status)}”?`,
    text: "You can stop it, and undo it for a few seconds.",
    no: "Cancel",
    yes: `Mark as “${statusLabel(status)}”`,
    isHarmless: true,
  });
  if (!isSure) return;
  await change(others, { status: status ?? null }, {
    progress: "Changing",
    done: (count) => `${animals(count)} ${statusInSentence(status, count)}`,
    already: pets.length - others.length,
  });
}

/** Moves the animals that are not in a category to that. The form in which the reader chose it has asked. */
export async function moveAnimals(pets: readonly Pet[], categoryId: bigint): Promise<void> {
  const others = pets.filter((pet) => pet.categoryId !== categoryId);
  await change(others, { categoryId }, {
    progress: "Moving",
    done: (count) => (
      <>
        {animals(count)} moved to <DistinctCategory id={categoryId} />
      </>
    ),
    already: pets.length - others.length,
  });
}

interface ChangeWords {
  progress: string;
  /** The sentence for the number of animals that were changed. */
  done: (count: number) => ComponentChildren;
  /** The number of animals that need no change. */
  already: number;
}

async function change(
  pets: readonly Pet[],
  patch: Patch,
  { progress, done, already }: ChangeWords,
): Promise<void> {
  if (pets.length === 0) {
    showToast(`${animals(already)} needed no change`);
    return;
  }
  report(await writeEach(pets.map((pet) => changeOf(pet, patch)), progress), {
    verb: "changed",
    noun: "change",
    words: done,
    note: already > 0 ? `${grouped(already)} unchanged` : undefined,
  });
}

/** Removes the animals, after a question. */
export async function askToRemoveAll(pets: readonly Pet[]): Promise<void> {
  const isSure = await ask({
    title: `Remove ${animals(pets.length)}?`,
    text: "“Removed” lists them, and can restore them with their history.",
    no: "Keep",
    yes: "Remove",
  });
  if (!isSure) return;
  report(await writeEach(pets.map(removalOf), "Removing"), {
    verb: "removed",
    noun: "removal",
    words: (count) => `${animalsWere(count)} removed`,
  });
}

/** Takes back what an import did. `kept` are the animals that stay as they are, and the reasons. */
export async function undoImport(
  writes: readonly Write[],
  kept: readonly Failure[],
): Promise<Outcomes> {
  const outcomes = await writeEach(writes, "Undoing");
  report({ ...outcomes, failures: [...kept, ...outcomes.failures] }, {
    verb: "set back",
    words: (count) => `Undone: the import of ${animals(count)}`,
  });
  return outcomes;
}

/** Restores the animals, each only if it is still as the list of removed animals shows it. */
export async function restoreAnimals(pets: readonly RemovedPet[]): Promise<void> {
  report(await writeEach(pets.map(restoreOf), "Restoring"), {
    verb: "restored",
    words: (count) => `${animalsWere(count)} restored`,
  });
}

/** The undo of writes to one or several animals, as long as one of these can be undone. */
export function undoing(done: readonly Written[]): Undo {
  return {
    carryOut: () => undo(done),
    isPossible: () =>
      done.some(({ before, after }) => isRemoved(before.id) === (after === undefined)),
    isOver: () => done.every(({ before, after }) => after === undefined && !isRemoved(before.id)),
  };
}

async function undo(done: readonly Written[]): Promise<void> {
  const outcomes = await writeEach(done.map(undoOf), "Undoing");
  const wasRemoved = done.some(({ after }) => after === undefined);
  const [first] = outcomes.done;
  const emptied = await emptiedCategory(first);
  report(outcomes, {
    verb: wasRemoved ? "restored" : "changed back",
    words: () => (
      <>
        <Undone done={outcomes.done} wasRemoved={wasRemoved} />
        {emptied !== undefined && (
          <>
            . <CategoryName id={emptied} /> has no animals now
          </>
        )}
      </>
    ),
  });
  if (first !== undefined) await focusRow(first.before.id);
}

/** The category with a name that the undo of a move has left without animals, such as one that was added for the move. */
async function emptiedCategory(undone: Written | undefined): Promise<bigint | undefined> {
  const { before, after } = undone ?? {};
  if (before === undefined || before.categoryId === after?.categoryId) return undefined;
  const id = before.categoryId;
  const isEmptied = nameOfCategory(id) !== undefined && !await hasAnimals(id);
  return isEmptied ? id : undefined;
}

/** Puts the focus on the row of an animal if the list shows it. */
async function focusRow(id: number): Promise<void> {
  await refreshAnimals([id]);
  // The reader may have gone to something else.
  if (!isFocusFree()) return;
  activeId.value = id;
  afterDraw(focusHome);
}

interface UndoneProps {
  /** At least one. */
  done: readonly Written[];
  wasRemoved: boolean;
}

function Undone({ done, wasRemoved }: UndoneProps): JSX.Element {
  const [{ before, after }] = done;
  const { id, name, status } = after!;
  if (done.length > 1) {
    const what = wasRemoved ? "are back" : "changed back";
    return <>Undone: {animals(done.length)} {what}</>;
  }
  const link = <AnimalLink id={id} name={name} />;
  if (wasRemoved) return <>Undone: {link} is back</>;
  const differences = differencesOf(after!, previousOf(before, after!));
  const fields = differences.map(({ field }) => field.label.toLowerCase()).join(" and ");
  if (fields === "status" && status !== undefined) {
    return <>Undone: {link} is {statusLabel(status).toLowerCase()} again</>;
  }
  return <>Undone: {link} has its old {fields} again</>;
}

/** Sends all writes, until each has an outcome or the reader stops it. */
async function writeEach(writes: readonly Write[], words: string): Promise<Outcomes> {
  const isBusy = ({ shown }: Write) => changing.value.has(shown.id);
  const { busy = [], free = [] } = Object.groupBy(writes, (it) => isBusy(it) ? "busy" : "free");
  const done: Written[] = [];
  const failures: Failure[] = busy.map(({ shown }) => ({ pet: shown, why: BUSY }));
  const run: Run = { words, total: writes.length, done: signal(failures.length), isStopped: false };
  const endings: Promise<void>[] = [];
  beginWrites(free);
  runs.value = [...runs.value, run];
  try {
    for await (const answers of sendInBatches(free, ({ operation }) => operation)) {
      for (const answer of answers) {
        if (answer.error === undefined) done.push(writtenBy(answer));
        else failures.push({ pet: answer.item.shown, why: whyNot(answer.item, answer.error) });
      }
      endings.push(endWrites(answers.map(endedBy)));
      run.done.value = done.length + failures.length;
      if (run.isStopped) break;
    }
  } finally {
    const rest = free.slice(run.done.value - busy.length);
    endings.push(endWrites(rest.map((write) => ({ write }))));
    runs.value = runs.value.filter((it) => it !== run);
  }
  // The message after it offers Undo, which is refused while an animal is being saved.
  await Promise.all(endings);
  return { done, failures, notSent: writes.length - run.done.value };
}

function writtenBy({ item: { shown }, pet }: Answer<Write>): Written {
  return { kind: "done", before: shown, after: pet };
}

/** Somebody else may have changed or removed an animal that was not written. */
function endedBy(answer: Answer<Write>): Ended {
  const { item: write, error } = answer;
  if (error === undefined) return { write, written: writtenBy(answer) };
  if (!isOvertaken(error)) return { write };
  return { write, written: { kind: "conflict", before: write.shown, after: undefined } };
}

function whyNot({ operation }: Write, error: Error): string {
  if (operation.action === "restore") return whyNotRestored(error).message;
  if (!isOvertaken(error)) return error.message;
  return isOfNone(error) ? REMOVED : CHANGED;
}

interface Report {
  /** What was done to an animal, after "was". */
  verb: string;
  /** What a write is called if it can be undone: for example "change". */
  noun?: string;
  /** The sentence for the number of animals that were written. */
  words: (count: number) => ComponentChildren;
  note?: string;
}

/** A message if all succeeded, else a dialog that says what was done, what was not and why. Its button says what it undoes. */
function report(outcomes: Outcomes, { verb, noun, words, note }: Report): void {
  const { done, failures, notSent } = outcomes;
  const undoDone = noun !== undefined && done.length > 0 ? undoing(done) : undefined;
  const what = done.length > 0
    ? <>{words(done.length)}{note !== undefined && `, ${note}`}</>
    : `No animal was ${verb}`;
  if (failures.length === 0 && notSent === 0) {
    showToast(what, undoDone);
    return;
  }
  const missing = `${animalsWere(failures.length + notSent)} not ${verb}`;
  openDialog((close) => (
    <Dialog
      title={notSent > 0 ? `Stopped: ${missing}` : missing}
      no="Close"
      yes={undoDone === undefined ? undefined : undoWords(noun!, done.length)}
      onYes={() => {
        close();
        undoDone?.carryOut();
      }}
      onClose={close}
    >
      <p role="status">{what}.</p>
      {notSent > 0 && <p>You stopped it before it came to {animals(notSent)}.</p>}
      {failures.length > 0 && <Failures failures={failures} />}
    </Dialog>
  ));
}

/** They cannot mean the animals to which nothing was done. */
function undoWords(noun: string, count: number): string {
  return count === 1 ? `Undo the ${noun}` : `Undo the ${grouped(count)} ${noun}s`;
}

function Failures({ failures }: { failures: readonly Failure[] }): JSX.Element {
  const others = failures.length - FAILURES_SHOWN;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What failed">
      <table>
        <thead>
          <tr>
            <th>Animal</th>
            <th class="number">Id</th>
            <th>Why</th>
          </tr>
        </thead>
        <tbody>
          {failures.slice(0, FAILURES_SHOWN).map(({ pet: { id, name }, why }) => (
            <tr key={id}>
              <td>
                <Name of={name} />
              </td>
              <td class="number">{id}</td>
              <td>{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {others > 0 && <p class="soft">… and {animals(others)} more</p>}
    </div>
  );
}
