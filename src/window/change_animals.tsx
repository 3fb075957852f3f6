/** Changes and removals of several animals at once, and what undoes them: each animal has an outcome of its own. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Pet, PetStatus } from "../../events/pet.ts";
import { AnimalLink } from "./animal_link.tsx";
import { ResponseError } from "./api.ts";
import { animals, animalsWere } from "./count_words.ts";
import { ask, Dialog, openDialog } from "./dialog.tsx";
import { statusInSentence } from "./fields.tsx";
import { showToast } from "./messages.tsx";
import { Name } from "./name.tsx";
import { holdPage, releasePage } from "./unsaved.ts";
import {
  changing,
  type Done,
  NOT_FOUND,
  writeChange,
  writeRemoval,
  writeUndo,
  type Written,
} from "./write_animal.ts";

/** Over HTTP/1.1, the browser has six connections, and one of them is the stream. */
const WORKERS = 5;
const HOLDER = "change-animals";

const CHANGED = "Somebody else changed it meanwhile";
const REMOVED = "Somebody else removed it meanwhile";
const BUSY = "It is being changed already";

/** How far the page is with the animals; `undefined` if it changes none. */
export const progress = signal<{ words: string; done: number; total: number } | undefined>(
  undefined,
);

let isStopped = false;

/** Sends no further requests. Requests in flight are completed. */
export function stop(): void {
  isStopped = true;
}

interface Failure {
  pet: Pet;
  why: string;
}

/** The outcomes of several writes, of which some may not have been sent. */
interface Outcomes {
  done: Done[];
  failures: Failure[];
}

/** Sets the status of the animals that have another one. */
export async function changeStatus(
  pets: readonly Pet[],
  status: PetStatus | undefined,
): Promise<void> {
  const others = pets.filter((pet) => pet.status !== status);
  const already = pets.length - others.length;
  const outcomes = await writeEach(others, "Changing", (pet) => pet, (pet) => {
    return writeChange(pet, { status: status ?? null });
  });
  report(outcomes, others.length, {
    words: (count) => `${animals(count)} ${statusInSentence(status, count)}`,
    note: already > 0 ? `${animals(already)} had this status before` : undefined,
    mayUndo: true,
  });
}

/** Removes the animals, after a question. */
export async function askToRemoveAll(pets: readonly Pet[]): Promise<void> {
  const isSure = await ask({
    title: `Remove ${animals(pets.length)}?`,
    text:
      "You can undo this for some seconds. The animals get new ids then, and lose their history.",
    no: "Keep",
    yes: "Remove",
  });
  if (!isSure) return;
  const outcomes = await writeEach(pets, "Removing", (pet) => pet, writeRemoval);
  report(outcomes, pets.length, {
    words: (count) => `${animalsWere(count)} removed`,
    mayUndo: true,
  });
}

/** Undoes what was done to one or several animals. */
export async function undo(done: readonly Done[]): Promise<void> {
  const outcomes = await writeEach(done, "Undoing", ({ before }) => before, writeUndo);
  const [first, ...more] = outcomes.done;
  const isAlone = first !== undefined && more.length === 0;
  const wasRemoved = done.some(({ after }) => after === undefined);
  report(outcomes, done.length, {
    words: (count) => {
      if (isAlone) return <UndoneAlone done={first} wasRemoved={wasRemoved} />;
      if (wasRemoved) return `${animalsWere(count)} added again, with new ids`;
      return `${animals(count)} ${count === 1 ? "is" : "are"} as before`;
    },
    mayUndo: false,
  });
}

function UndoneAlone({ done, wasRemoved }: { done: Done; wasRemoved: boolean }): JSX.Element {
  const { id, name } = done.after!;
  const link = <AnimalLink id={id} name={name} />;
  if (wasRemoved) return <>{link} was added again. Its new id is {id}</>;
  return <>{link} is as before</>;
}

/** Writes to each, several at a time, until all have an outcome or the reader stops it. */
async function writeEach<Item>(
  items: readonly Item[],
  words: string,
  petOfItem: (item: Item) => Pet,
  write: (item: Item) => Promise<Written>,
): Promise<Outcomes> {
  const outcomes: Outcomes = { done: [], failures: [] };
  const total = items.length;
  const queue = items.values();
  isStopped = false;
  const work = async () => {
    // The workers share the queue.
    for (const item of queue) {
      const pet = petOfItem(item);
      const outcome = await outcomeOf(pet, () => write(item));
      if (outcome.kind === "done") outcomes.done.push(outcome);
      else outcomes.failures.push({ pet, why: outcome.why });
      const done = outcomes.done.length + outcomes.failures.length;
      progress.value = { words, done, total };
      if (isStopped) return;
    }
  };
  holdPage(HOLDER);
  progress.value = { words, done: 0, total };
  await Promise.all(Array.from({ length: WORKERS }, work));
  progress.value = undefined;
  releasePage(HOLDER);
  return outcomes;
}

async function outcomeOf(
  pet: Pet,
  write: () => Promise<Written>,
): Promise<Done | { kind: "failed"; why: string }> {
  if (changing.value.has(pet.id)) return { kind: "failed", why: BUSY };
  try {
    const written = await write();
    return written.kind === "done" ? written : { kind: "failed", why: CHANGED };
  } catch (error) {
    const isRemoved = error instanceof ResponseError && error.status === NOT_FOUND;
    return { kind: "failed", why: isRemoved ? REMOVED : (error as Error).message };
  }
}

interface Words {
  /** The sentence for that many animals. */
  words: (count: number) => ComponentChildren;
  note?: string;
  mayUndo: boolean;
}

/** A message if all succeeded, else a dialog that says what failed and why. */
function report(
  { done, failures }: Outcomes,
  total: number,
  { words, note, mayUndo }: Words,
): void {
  const undoDone = mayUndo && done.length > 0 ? () => undo(done) : undefined;
  const notSent = total - done.length - failures.length;
  const what = <>{words(done.length)}{note !== undefined && `. ${note}`}</>;
  if (failures.length === 0 && notSent === 0) {
    showToast(what, undoDone);
    return;
  }
  openDialog((close) => (
    <Dialog
      title={`${animalsWere(failures.length + notSent)} left as before`}
      no="Close"
      yes={undoDone === undefined ? undefined : "Undo the rest"}
      onYes={() => {
        close();
        undoDone?.();
      }}
      onClose={close}
    >
      <p role="status">{what}.</p>
      {notSent > 0 && <p>You stopped it before {animals(notSent)}.</p>}
      {failures.length > 0 && <Failures failures={failures} />}
    </Dialog>
  ));
}

function Failures({ failures }: { failures: readonly Failure[] }): JSX.Element {
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
          {failures.map(({ pet: { id, name }, why }) => (
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
    </div>
  );
}
