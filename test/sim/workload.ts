import type { BatchClient } from "./batch_client.ts";
import type { CategoryClient } from "./category_client.ts";
import type { Cluster } from "./cluster.ts";
import type { Code } from "./code_under_test.ts";
import type { Consumer } from "./consumer.ts";
import {
  type Exchange,
  FIRST_TAG,
  type KeyInUse,
  type RemoveOperation,
  type RestoreOperation,
  type Target,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import type { Random } from "./random.ts";

/** The state that all clients and operators of a simulation share. */
export interface Workload {
  cluster: Cluster;
  code: Code;
  /** Whether the faults of the round include jumps of clocks. */
  clocksJump: boolean;
  keys: KeyInUse[];
  /** The newest pet id that a client has received. */
  newestPetId: number;
  /** The pets that a client knows as removed. */
  removedPets: Set<number>;
  /** Number of update attempts so far that have a tag. */
  tags: number;
  /** The newest response with a pet that a client has received, by the pet's id. */
  knownPets: Map<number, { etag: string; text: string }>;
  consumers: Consumer[];
  categoryClients: CategoryClient[];
  batchClients: BatchClient[];
  /** Requests with an Idempotency-Key, which may be repeated at any time. */
  idempotentWrites: { operation: WriteOperation; key: KeyInUse }[];
}

export const PET_STATUSES = ["available", "pending", "sold"];

/** Lets all clients know the pet of a response. */
export function noteResponse(workload: Workload, { operation, response }: Exchange): void {
  const { status, body, headers } = response!;
  if (operation.kind === "remove" && status === 204) workload.removedPets.add(operation.petId);
  if (operation.kind === "restore" && status === 200) workload.removedPets.delete(operation.petId);
  if (operation.kind === "list" || status !== 200 && status !== 201) return;
  const { id } = JSON.parse(body);
  workload.newestPetId = Math.max(workload.newestPetId, id);
  const etag = headers.get("etag");
  if (etag !== null) workload.knownPets.set(id, { etag, text: body });
}

/** Number of the oldest pets that were not removed, which are changed more often than others, so that changes meet. */
const OFTEN_CHANGED = 3;

/** Draws a pet that clients know, or one that does not exist. */
function drawPetId({ newestPetId, removedPets }: Workload, random: Random): number {
  if (random.chance(0.5)) return random.integer(1, newestPetId + 2);
  const oldest: number[] = [];
  for (let id = 1; oldest.length < OFTEN_CHANGED; id++) if (!removedPets.has(id)) oldest.push(id);
  return random.pick(oldest);
}

/** Draws a removal, mostly of a newer pet, so that some stay. */
export function drawRemoval(
  workload: Workload,
  random: Random,
  petId = random.chance(0.8)
    ? random.integer(1, workload.newestPetId + 1)
    : drawPetId(workload, random),
): RemoveOperation {
  return { kind: "remove", ...drawTarget(workload, random, petId) };
}

/** Draws a restore, mostly of a pet that clients know as removed. */
export function drawRestore(
  workload: Workload,
  random: Random,
  petId = drawRemovedPetId(workload, random),
): RestoreOperation {
  return { kind: "restore", ...drawTarget(workload, random, petId) };
}

function drawRemovedPetId(workload: Workload, random: Random): number {
  const removed = [...workload.removedPets];
  const isKnown = removed.length > 0 && random.chance(0.8);
  return isKnown ? random.pick(removed) : drawPetId(workload, random);
}

/** Draws a change of a pet. It may change nothing. */
export function drawUpdate(
  workload: Workload,
  random: Random,
  petId = drawPetId(workload, random),
  isTagged = random.chance(0.8),
): UpdateOperation {
  const tag = FIRST_TAG + workload.tags++;
  const known = workload.knownPets.get(petId);
  const patch: UpdateOperation["patch"] = isTagged ? { categoryId: tag } : {};
  if (random.chance(0.2)) patch.name = known && !isTagged ? JSON.parse(known.text).name : `${tag}`;
  if (Object.keys(patch).length === 0 || random.chance(0.6)) {
    patch.status = random.pick([...PET_STATUSES, null]);
  }
  return { kind: "update", ...drawTarget(workload, random, petId), patch };
}

function drawTarget({ knownPets }: Workload, random: Random, petId: number): Target {
  const { etag, text } = knownPets.get(petId) ?? { etag: '"of-no-pet"', text: "" };
  const expectations = {
    none: {},
    known: { ifMatch: etag, expected: text },
    // The ETag as a proxy that compresses leaves it.
    oneOfTwo: { ifMatch: `"of-no-pet", W/${etag}`, expected: text },
    other: { ifMatch: 'W/"of-no-pet"', expected: "" },
    any: { ifMatch: "*" },
  };
  const name = random.weighted({ none: 4, known: 4, oneOfTwo: 1, other: 0.5, any: 1 });
  return { petId, ...expectations[name] };
}

/** Changes pets on all instances for some time, some of them at the same moment. */
export async function runUpdates(
  workload: Workload,
  key: KeyInUse,
  count: number,
  spanMs: number,
): Promise<void> {
  const { cluster } = workload;
  const random = cluster.simulation.random.fork();
  await Promise.all(Array.from({ length: count }, async () => {
    await cluster.simulation.sleep(random.chance(0.3) ? 0 : random.between(0, spanMs));
    const slot = random.integer(0, cluster.size - 1);
    const exchange = await cluster.send(slot, drawUpdate(workload, random), key);
    if (exchange?.response !== undefined) noteResponse(workload, exchange);
  }));
}
