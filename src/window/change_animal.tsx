/** Changes and removals. If somebody else has changed the animal meanwhile, the reader decides. */

import { signal } from "@preact/signals";
import type { Pet } from "../../events/pet.ts";
import { applyChanges, petOf } from "./animals.ts";
import { request, ResponseError, write } from "./api.ts";
import { ask } from "./dialog.tsx";
import { describePet, formatPet, type Patch } from "./fields.tsx";
import { attempt, problem, showToast } from "./messages.tsx";
import { Name } from "./name.tsx";
import { holdPage, releasePage } from "./unsaved.ts";

const NOT_FOUND = 404;
const PRECONDITION_FAILED = 412;
/** How often a change is tried while others change the animal at the same time. */
const TRIES = 3;

const NO_ETAG =
  "Nothing was changed: the response of the service has no ETag, so this page cannot prove that nobody else's change is lost. A proxy on the way removes ETags. Ask the person who runs it to pass them on.";
const ALWAYS_OTHER =
  "Nothing was changed: the service says each time that somebody else has just changed the animal. If that is not true, a proxy on the way changes ETags. Ask the person who runs it.";

/** The animals that are being changed, by their ids, each with the fields that it gets. */
export const changing = signal<ReadonlyMap<number, Patch>>(new Map());

/** The outcome of a change: `theirs` is the animal as somebody else has made it meanwhile. */
type Outcome = { kind: "done" } | { kind: "failed" } | { kind: "conflict"; theirs: Pet };

/**
 * Changes an animal which the reader sees as `shown`, unless somebody else has changed it meanwhile. `showError` shows a
 * failure; by default, it is a message of the page.
 */
export function changeAnimal(
  shown: Pet,
  patch: Patch,
  showError?: (error: unknown) => void,
): Promise<Outcome> {
  return carryOut(shown, patch, {
    done: "was changed",
    send: (path, condition) => write<Pet>("PATCH", path, patch, condition),
    showError,
  });
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

/** Removes an animal, after a question. */
export async function askToRemove(pet: Pet): Promise<void> {
  const isSure = await ask({
    title: (
      <>
        Remove <Name of={pet.name} />?
      </>
    ),
    text: "It cannot be brought back.",
    no: "Keep",
    yes: "Remove",
  });
  if (!isSure) return;
  let outcome = await removeAnimal(pet);
  while (outcome.kind === "conflict") {
    const { theirs } = outcome;
    const isStillSure = await ask({
      title: "Somebody else changed this animal",
      text: <ItIsNow pet={theirs} />,
      no: "Keep theirs",
      yes: "Remove anyway",
    });
    if (!isStillSure) return;
    outcome = await removeAnimal(theirs);
  }
}

function removeAnimal(shown: Pet): Promise<Outcome> {
  return carryOut(shown, {}, {
    done: "was removed",
    send: (path, condition) => write<null>("DELETE", path, undefined, condition),
  });
}

export function ItIsNow({ pet }: { pet: Pet }) {
  return (
    <>
      It is now <Name of={pet.name} />, {describePet(pet)}.
    </>
  );
}

interface Action {
  /** The change in words, after the name of the animal. */
  done: string;
  /** Resolves to the animal as it is then, or to null if it was removed. */
  send: (path: string, condition: Record<string, string>) => Promise<{ body: Pet | null }>;
  showError?: (error: unknown) => void;
}

async function carryOut(shown: Pet, patch: Patch, action: Action): Promise<Outcome> {
  const { id, name } = shown;
  if (changing.value.has(id)) return { kind: "failed" };
  const holder = `change-${id}`;
  changing.value = new Map(changing.value).set(id, patch);
  holdPage(holder);
  let theirs: Pet | undefined;
  const isDone = await attempt(async () => {
    theirs = await writeUnlessChanged(shown, action);
  }, (error) => showFailure(error, shown, action));
  const others = new Map(changing.value);
  others.delete(id);
  changing.value = others;
  releasePage(holder);
  if (!isDone) return { kind: "failed" };
  if (theirs !== undefined) return { kind: "conflict", theirs };
  showToast(
    <>
      <Name of={name} /> {action.done}
    </>,
  );
  return { kind: "done" };
}

/** Writes only if the animal still is as the reader saw it. Otherwise resolves to the animal as it is now. */
async function writeUnlessChanged(shown: Pet, { send }: Action): Promise<Pet | undefined> {
  const path = `pets/${shown.id}`;
  for (let tries = 0; tries < TRIES; tries++) {
    const { body: [now], headers } = await request<Pet[]>(`pets?ids=${shown.id}`);
    if (now === undefined) throw new ResponseError(NOT_FOUND, { message: "It was removed" });
    if (!isSame(now, shown)) return now;
    const etag = headers.get("etag");
    if (etag === null) throw new Error(NO_ETAG);
    const listed = petOf(shown.id);
    try {
      const { body } = await send(path, { "if-match": etag });
      // If the list has another pet by now, the stream has brought this change or a later one.
      const isListOlder = petOf(shown.id) === listed;
      if (isListOlder) applyChanges([{ pet: body ?? now, isRemoved: body === null, isOwn: true }]);
      return undefined;
    } catch (error) {
      // Somebody changed the animal after the read.
      const isRefused = error instanceof ResponseError && error.status === PRECONDITION_FAILED;
      if (!isRefused) throw error;
    }
  }
  throw new Error(ALWAYS_OTHER);
}

function isSame(one: Pet, other: Pet): boolean {
  return formatPet(one) === formatPet(other);
}

function showFailure(error: unknown, shown: Pet, { showError }: Action): void {
  const isRemoved = error instanceof ResponseError && error.status === NOT_FOUND;
  if (isRemoved) {
    applyChanges([{ pet: shown, isRemoved: true }]);
    problem.value = (
      <>
        <Name of={shown.name} /> was removed by somebody else
      </>
    );
  } else if (showError !== undefined) {
    showError(error);
  } else {
    problem.value = (error as Error).message;
  }
}
