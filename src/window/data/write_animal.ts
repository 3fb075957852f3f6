/** Changes, removals and restores of animals, and their undo. Each is sent only if the animal is still as the reader saw it. */

import { signal } from "@preact/signals";
import type { NewPet, Pet } from "../../../events/pet.ts";
import { refreshAnimals } from "./animals.ts";
import { etagOf, isOvertaken, PRECONDITION_FAILED, request, ResponseError, write } from "./api.ts";
import { EDITABLE_FIELDS, formatPet, type Patch } from "./fields.ts";
import { holdPage, releasePage } from "./unsaved.ts";
import { type Operation, sendInBatches } from "./write_batch.ts";

/** Tries while others change the animal between a read and a write, but no field that the reader saw. */
const TRIES = 3;
const HOLDER = "write-animal";

const RESTORED = "Somebody else has restored it meanwhile";

const ALWAYS_OTHER =
  "Nothing was changed, because somebody else changes this animal at the same time. Try again";

/** The animals that are being changed, by their ids, each with the fields that it gets. */
export const changing = signal<ReadonlyMap<number, Patch>>(new Map());

/** A change, removal or restore that the reader wants, of an animal which the reader sees as `shown`. */
export interface Write {
  shown: Pet;
  /** The fields that the animal gets. */
  patch: Patch;
  /** The same as an operation of a batch, for several animals. */
  operation: Operation;
  /** Rejects if the service refuses it. */
  send: () => Promise<Written>;
}

/** The outcome of a write to an animal that was `before`. A removed animal has no `after`. */
export interface Written {
  /** In a `conflict`, somebody else has changed or removed the animal meanwhile. */
  kind: "done" | "conflict";
  before: Pet;
  after: Pet | undefined;
  isRestore?: true;
}

export function changeOf(shown: Pet, patch: Patch): Write {
  const send = () =>
    writeUnlessChanged(shown, async (path, condition) => {
      const { body } = await write<Pet>("PATCH", path, patch, condition);
      return body;
    });
  return { shown, patch, operation: { action: "change", expected: shown, fields: patch }, send };
}

export function removalOf(shown: Pet): Write {
  const send = () =>
    writeUnlessChanged(shown, async (path, condition) => {
      await write("DELETE", path, undefined, condition);
      return undefined;
    });
  return { shown, patch: {}, operation: { action: "remove", expected: shown }, send };
}

/** The animal is restored only if it was like this before its removal. */
export function restoreOf(removed: Pet): Write {
  const operation: Operation = { action: "restore", expected: removed };
  const send = async (): Promise<Written> => {
    const [[{ pet, error }]] = await Array.fromAsync(sendInBatches([removed], () => operation));
    if (error !== undefined) throw whyNotRestored(error);
    return { kind: "done", before: pet!, after: pet, isRestore: true };
  };
  return { shown: removed, patch: {}, operation, send };
}

/** If the animal is there, or was removed again in another state, the error says so. */
export function whyNotRestored(error: Error): Error {
  const isOther = error instanceof ResponseError &&
    (error.code === "pet_not_removed" || error.status === PRECONDITION_FAILED);
  return isOther ? new Error(RESTORED) : error;
}

/** The number of new animals that are being sent. */
export const adding = signal(0);

/** Adds an animal. With the same Idempotency-Key in `headers`, it is added only once. */
export async function addAnimal(pet: NewPet, headers: Record<string, string>): Promise<Written> {
  adding.value++;
  try {
    const { body } = await write<Pet>("POST", "pets", pet, headers);
    await refreshAnimals([body.id]);
    return { kind: "done", before: body, after: body };
  } finally {
    adding.value--;
  }
}

/** Undoes a change unless somebody else has changed the animal since, or restores a removed animal. */
export function undoOf({ before, after }: Written): Write {
  if (after === undefined) return restoreOf(before);
  return changeOf(after, previousOf(before, after));
}

/** Shows that these writes are being sent. The page is not left without a question until they have ended. */
export function beginWrites(writes: readonly Write[]): void {
  const after = new Map(changing.value);
  for (const { shown, patch } of writes) after.set(shown.id, patch);
  changing.value = after;
  if (after.size > 0) holdPage(HOLDER);
}

/** A write that has ended. Without an outcome, it failed or was not sent. */
export interface Ended {
  write: Write;
  written?: Written;
}

/** Reads the animals of some writes again, and then shows that these are no longer being sent. */
export async function endWrites(ended: readonly Ended[]): Promise<void> {
  const written = ended.map((it) => it.written).filter((it) => it !== undefined);
  try {
    await refreshAnimals(written.map(({ before, after }) => (after ?? before).id));
  } finally {
    const others = new Map(changing.value);
    for (const { write: { shown } } of ended) others.delete(shown.id);
    changing.value = others;
    if (others.size === 0) releasePage(HOLDER);
  }
}

/** The fields that a change has changed, with the values that they had: `null` for a field that was absent. */
export function previousOf(before: Pet, after: Pet): Patch {
  const differing = EDITABLE_FIELDS.filter(({ name }) => before[name] !== after[name]);
  return Object.fromEntries(differing.map(({ name }) => [name, before[name] ?? null]));
}

/**
 * Sends a write only if the animal is still as `shown`, and otherwise resolves to a conflict. `send` resolves to the animal
 * after the write, or to `undefined` if it was removed.
 */
async function writeUnlessChanged(
  shown: Pet,
  send: (path: string, condition: Record<string, string>) => Promise<Pet | undefined>,
): Promise<Written> {
  const { id } = shown;
  for (let tries = 0; tries < TRIES; tries++) {
    const { body: [now], headers } = await request<Pet[]>(`pets?ids=${id}`);
    if (now === undefined || !isSamePet(now, shown)) {
      return { kind: "conflict", before: shown, after: now };
    }
    try {
      const after = await send(`pets/${id}`, { "if-match": etagOf(headers) });
      return { kind: "done", before: now, after };
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }
  throw new Error(ALWAYS_OTHER);
}

/** Whether two readings of an animal have the same fields. */
export function isSamePet(one: Pet, other: Pet): boolean {
  return formatPet(one) === formatPet(other);
}
