/** One write to an animal, which is sent only if the animal still is as the reader saw it, and what undoes the write. */

import { signal } from "@preact/signals";
import type { NewPet, Pet } from "../../events/pet.ts";
import { applyChanges, petOf } from "./animals.ts";
import { request, ResponseError, write } from "./api.ts";
import { EDITABLE_FIELDS, formatPet, type Patch } from "./fields.tsx";
import { holdPage, releasePage } from "./unsaved.ts";

export const NOT_FOUND = 404;
const PRECONDITION_FAILED = 412;
/** How often a write is tried while others change the animal at the same time. */
const TRIES = 3;

const NO_ETAG =
  "Nothing was changed: the response of the service has no ETag, so this page cannot prove that nobody else's change is lost. A proxy on the way removes ETags. Ask the person who runs it to pass them on.";
const ALWAYS_OTHER =
  "Nothing was changed: the service says each time that somebody else has just changed the animal. If that is not true, a proxy on the way changes ETags. Ask the person who runs it.";

/** The animals that are being changed, by their ids, each with the fields that it gets. */
export const changing = signal<ReadonlyMap<number, Patch>>(new Map());

/** A change or removal by the reader, of an animal that was `before`. A removal has no `after`. */
export interface Done {
  kind: "done";
  before: Pet;
  after: Pet | undefined;
}

/** A change or removal that the stream brings later: by the reader, or one that kept the reader's write from happening. */
interface Seen {
  before: Pet;
  after: Pet | undefined;
  isOwn: boolean;
}

export const lastSeen = signal<Seen | undefined>(undefined);

/** The outcome of a write: `theirs` is the animal as somebody else has made it meanwhile. */
export type Written = Done | { kind: "conflict"; theirs: Pet };

/** Changes an animal which the reader sees as `shown`. Rejects if the service refuses the change. */
export function writeChange(shown: Pet, patch: Patch): Promise<Written> {
  return whileChanging(shown.id, patch, () =>
    writeUnlessChanged(shown, async (path, condition) => {
      const { body } = await write<Pet>("PATCH", path, patch, condition);
      return body;
    }));
}

/** Removes an animal which the reader sees as `shown`. Rejects if the service refuses the removal. */
export function writeRemoval(shown: Pet): Promise<Written> {
  return whileChanging(shown.id, {}, () =>
    writeUnlessChanged(shown, async (path, condition) => {
      await write("DELETE", path, undefined, condition);
      return undefined;
    }));
}

/** Undoes a change unless somebody else has changed the animal since, or adds a removed animal again, with a new id. */
export async function writeUndo({ before, after }: Done): Promise<Written> {
  if (after !== undefined) return await writeChange(after, previousOf(before, after));
  const fields = EDITABLE_FIELDS.map(({ name }) => [name, before[name]]);
  const { body } = await write<Pet>("POST", "pets", Object.fromEntries(fields) as NewPet);
  applyChanges([{ pet: body, isRemoved: false, isOwn: true }]);
  return { kind: "done", before, after: body };
}

/** The fields that a change has changed, with the values that they had: `null` for a field that was absent. */
export function previousOf(before: Pet, after: Pet): Patch {
  const differing = EDITABLE_FIELDS.filter(({ name }) => before[name] !== after[name]);
  return Object.fromEntries(differing.map(({ name }) => [name, before[name] ?? null]));
}

/** The page is not left without a question until the write has ended. */
async function whileChanging(
  id: number,
  patch: Patch,
  action: () => Promise<Written>,
): Promise<Written> {
  const holder = `change-${id}`;
  changing.value = new Map(changing.value).set(id, patch);
  holdPage(holder);
  try {
    return await action();
  } finally {
    const others = new Map(changing.value);
    others.delete(id);
    changing.value = others;
    releasePage(holder);
  }
}

/** `send` resolves to the animal as it is then. */
async function writeUnlessChanged(
  shown: Pet,
  send: (path: string, condition: Record<string, string>) => Promise<Pet | undefined>,
): Promise<Written> {
  const { id } = shown;
  for (let tries = 0; tries < TRIES; tries++) {
    const listedBefore = petOf(id);
    const { body: [now], headers } = await request<Pet[]>(`pets?ids=${id}`);
    if (now === undefined || !isSame(now, shown)) {
      see({ before: shown, after: now, isOwn: false }, listedBefore);
    }
    if (now === undefined) throw new ResponseError(NOT_FOUND, { message: "It was removed" });
    if (!isSame(now, shown)) return { kind: "conflict", theirs: now };
    const etag = headers.get("etag");
    if (etag === null) throw new Error(NO_ETAG);
    const listed = petOf(id);
    try {
      const after = await send(`pets/${id}`, { "if-match": etag });
      see({ before: now, after, isOwn: true }, listed);
      return { kind: "done", before: now, after };
    } catch (error) {
      // Somebody changed or removed the animal after the read.
      const isRefused = error instanceof ResponseError &&
        [NOT_FOUND, PRECONDITION_FAILED].includes(error.status);
      if (!isRefused) throw error;
    }
  }
  throw new Error(ALWAYS_OTHER);
}

/** Shows an animal as it is now. The list had it as `listed` before the request. */
function see(seen: Seen, listed: Pet | undefined): void {
  const { before, after, isOwn } = seen;
  // If the list has another pet by now, the stream has brought this change or a later one.
  const isListOlder = petOf(before.id) === listed;
  const change = { pet: after ?? before, isRemoved: after === undefined, isOwn };
  if (isListOlder) applyChanges([change]);
  lastSeen.value = seen;
}

/** Whether two readings of an animal have the same fields. */
export function isSame(one: Pet, other: Pet): boolean {
  return formatPet(one) === formatPet(other);
}
