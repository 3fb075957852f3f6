/** What clients send: how often they do what with pets, batches and categories, and the contents of each request. */

import {
  type Batch,
  FIRST_TAG,
  type ListOperation,
  type ReadOperation,
  type Subject,
  type Target,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import type { Random } from "./random.ts";
import type { Workload } from "./workload.ts";

export type Kind = "pets" | "batches" | "categories";
export type Write = WriteOperation | Batch;

type Weights<Name extends string> = Partial<Record<Name, number>>;

/** How often clients do what with one kind of things. */
export interface Habits {
  actions: Weights<"write" | "writeWithKey" | "repeat" | "race" | "read">;
  writes: Weights<Write["kind"]>;
  reads: Weights<ReadOperation["kind"]>;
  /** What they do at the same moment. */
  race: Weights<(Write | ReadOperation)["kind"]>;
}

export const HABITS: Record<Kind, Habits> = {
  pets: {
    actions: { write: 10, writeWithKey: 6.4, repeat: 1, race: 2, read: 9 },
    writes: { create: 7, update: 6, remove: 1.7, restore: 1.7 },
    reads: { list: 6, get: 3 },
    race: { update: 4, remove: 0.5, restore: 0.5, get: 1, list: 3, create: 1 },
  },
  batches: {
    actions: { write: 1, writeWithKey: 4, race: 0.5 },
    writes: { batch: 1 },
    reads: {},
    race: { batch: 1, update: 1, list: 1 },
  },
  categories: {
    actions: { write: 4, writeWithKey: 3, race: 3, read: 4 },
    writes: { nameCategory: 5, removeCategory: 2 },
    reads: { listCategories: 3, getCategory: 1 },
    race: { nameCategory: 5, removeCategory: 2, listCategories: 3, getCategory: 1 },
  },
};

/** Draws how often the clients of a seed act on each kind of things. Many seeds only have pets. */
export function drawKinds(random: Random): Record<Kind, number> {
  return {
    pets: 4,
    batches: random.pick([0, 0, 0, 1, 2]),
    categories: random.pick([0, 0, 0, 1, 4]),
  };
}

interface Details {
  /** The name of a new pet. */
  name: string;
  /** The pet that the request is for; by default, it is drawn. */
  petId?: number;
}

type Draw<T> = (workload: Workload, random: Random, details: Details) => T;

export const WRITES: Record<Write["kind"], Draw<Write>> = {
  create(_workload, random, { name }) {
    const status = random.chance(0.3) ? undefined : random.pick(PET_STATUSES);
    return { kind: "create", name, categoryId: random.integer(-2, 2), status };
  },
  update: (workload, random, { petId }) => drawUpdate(workload, random, { petId }),
  remove(workload, random, { petId }) {
    const id = petId ?? drawNewerPetId(workload, random);
    return { kind: "remove", ...drawTarget(workload, random, "pet", id) };
  },
  restore(workload, random, { petId }) {
    const id = petId ?? drawRemovedPetId(workload, random);
    return { kind: "restore", ...drawTarget(workload, random, "pet", id) };
  },
  batch: drawBatch,
  nameCategory(workload, random) {
    const target = drawTarget(workload, random, "category", random.pick(CATEGORY_IDS));
    return { kind: "nameCategory", ...target, name: random.pick(CATEGORY_NAMES) };
  },
  removeCategory(workload, random) {
    const target = drawTarget(workload, random, "category", random.pick(CATEGORY_IDS));
    return { kind: "removeCategory", ...target };
  },
};

const READS: Record<ReadOperation["kind"], Draw<ReadOperation>> = {
  list: drawList,
  get({ newestPetId }, random, { petId }) {
    return { kind: "get", id: petId ?? random.integer(1, newestPetId + 2) };
  },
  listCategories: () => ({ kind: "listCategories" }),
  getCategory: (_workload, random) => ({ kind: "getCategory", id: random.pick(CATEGORY_IDS) }),
};

/** The draws of each request. */
export const DRAWS = { ...WRITES, ...READS };

/** Few, so that clients meet. */
const CATEGORY_IDS = [-1, 0, 7];
const CATEGORY_NAMES = ["Dogs", "dogs", "Cats", "cAts", "Owls"];

export const PET_STATUSES = ["available", "pending", "sold"];

/** Number of the oldest pets that were not removed, which are changed more often than others, so that changes meet. */
const OFTEN_CHANGED = 3;

/** Draws a pet that clients know, or one that does not exist. */
export function drawPetId({ newestPetId, removedPets }: Workload, random: Random): number {
  if (random.chance(0.5)) return random.integer(1, newestPetId + 2);
  const oldest: number[] = [];
  for (let id = 1; oldest.length < OFTEN_CHANGED; id++) if (!removedPets.has(id)) oldest.push(id);
  return random.pick(oldest);
}

/** Draws mostly a newer pet, so that some stay. */
function drawNewerPetId(workload: Workload, random: Random): number {
  if (random.chance(0.2)) return drawPetId(workload, random);
  return random.integer(1, workload.newestPetId + 1);
}

/** Draws mostly a pet that clients know as removed. */
function drawRemovedPetId(workload: Workload, random: Random): number {
  const removed = [...workload.removedPets];
  const isKnown = removed.length > 0 && random.chance(0.8);
  return isKnown ? random.pick(removed) : drawPetId(workload, random);
}

/** Draws a change of a pet. It may change nothing. A tag identifies it. */
export function drawUpdate(
  workload: Workload,
  random: Random,
  { petId, tagged = 0.8 }: { petId?: number; tagged?: number } = {},
): UpdateOperation {
  const id = petId ?? drawPetId(workload, random);
  const isTagged = random.chance(tagged);
  const tag = FIRST_TAG + workload.tags++;
  const known = workload.known.pet.get(id);
  const patch: UpdateOperation["patch"] = isTagged ? { categoryId: tag } : {};
  if (random.chance(0.2)) patch.name = known && !isTagged ? JSON.parse(known.text).name : `${tag}`;
  if (Object.keys(patch).length === 0 || random.chance(0.6)) {
    patch.status = random.pick([...PET_STATUSES, null]);
  }
  return { kind: "update", ...drawTarget(workload, random, "pet", id), patch };
}

/** Draws what a client expects of the pet or the category that it writes. */
function drawTarget({ known }: Workload, random: Random, subject: Subject, id: number): Target {
  const { etag, text } = known[subject].get(id) ?? { etag: '"of-none"', text: "" };
  const expectations = {
    nothing: {},
    known: { ifMatch: etag, expected: text },
    // The ETag as a proxy that compresses leaves it.
    oneOfTwo: { ifMatch: `"of-none", W/${etag}`, expected: text },
    other: { ifMatch: 'W/"of-none"', expected: "" },
    any: { ifMatch: "*" },
    none: { ifNoneMatch: "*" as const },
  };
  const none = subject === "category" ? 2 : 0;
  const name = random.weighted({ nothing: 4, known: 4, oneOfTwo: 1, other: 0.5, any: 1, none });
  return { id, ...expectations[name] };
}

/** Draws writes, often several of one pet. */
function drawBatch(workload: Workload, random: Random, { name }: Details): Batch {
  const often = drawPetId(workload, random);
  const count = random.integer(2, 8);
  const writes = Array.from({ length: count }, (_, index): WriteOperation => {
    const kind = random.weighted({ create: 3, update: 5, remove: 1, restore: 1 });
    const petId = random.chance(0.4) ? often : undefined;
    if (kind === "update") return drawUpdate(workload, random, { petId, tagged: 0.4 });
    return WRITES[kind](workload, random, { name: `${name}-${index}`, petId }) as WriteOperation;
  });
  return { kind: "batch", writes };
}

function drawList({ newestPetId, tags }: Workload, random: Random): ListOperation {
  const operation: ListOperation = { kind: "list" };
  if (random.chance(0.1)) {
    const ids = Array.from({ length: 5 }, () => random.integer(1, newestPetId + 2));
    return { ...operation, ids: ids.slice(random.integer(0, 4)) };
  }
  if (random.chance(0.15)) return drawRemovedList(newestPetId, random);
  if (random.chance(0.25)) operation.categoryId = random.integer(-2, 2);
  else if (random.chance(0.1)) operation.categoryId = FIRST_TAG + random.integer(0, tags);
  if (random.chance(0.6)) operation.limit = random.pick([1, 2, 5, 100]);
  if (random.chance(0.5)) operation.status = random.pick(PET_STATUSES);
  if (random.chance(0.3)) operation.cursor = random.integer(1, newestPetId + 3);
  if (random.chance(0.2)) operation.order = random.pick(["asc", "desc"]);
  if (random.chance(0.15)) operation.name = String(random.integer(0, 9));
  return operation;
}

function drawRemovedList(newestPetId: number, random: Random): ListOperation {
  const operation: ListOperation = { kind: "list", removed: true };
  if (random.chance(0.6)) operation.limit = random.pick([1, 2, 5]);
  // A position: of two events for each pet.
  if (random.chance(0.3)) operation.cursor = random.integer(1, 2 * newestPetId + 3);
  return operation;
}

/** Draws another write, with which a client misuses the Idempotency-Key of a write. */
export function drawAnother(
  write: Write,
  workload: Workload,
  random: Random,
  { name }: Details,
): Write {
  if (write.kind === "batch") return { ...write, writes: write.writes.slice(1) };
  if (write.kind === "nameCategory") return { ...write, name: "Bees" };
  const kind = random.weighted({ create: 4, update: 3, remove: 3 });
  const petId = "id" in write ? write.id + 1 : workload.newestPetId;
  return WRITES[kind](workload, random, { name, petId });
}
