/** What the clients and operators of a simulation share. */

import type { Cluster } from "./cluster.ts";
import type { Code } from "./code_under_test.ts";
import type { Consumer } from "./consumer.ts";
import { drawUpdate, type Kind } from "./draws.ts";
import {
  type Batch,
  type Exchange,
  type KeyInUse,
  type Operation,
  type Subject,
  subjectOf,
  type WriteOperation,
} from "./history.ts";

/** The state that all clients and operators of a simulation share. */
export interface Workload {
  cluster: Cluster;
  code: Code;
  /** Whether the faults of the round include jumps of clocks. */
  clocksJump: boolean;
  keys: KeyInUse[];
  /** How often clients act on each kind of things. */
  kinds: Record<Kind, number>;
  /** The newest pet id that a client has received. */
  newestPetId: number;
  /** The pets that a client knows as removed. */
  removedPets: Set<number>;
  /** Number of update attempts so far that have a tag. */
  tags: number;
  /** The newest response with a pet or a category that a client has received, by its id. */
  known: Record<Subject, Map<number, { etag: string; text: string }>>;
  consumers: Consumer[];
  /** Requests with an Idempotency-Key, which may be repeated at any time. */
  idempotentWrites: { write: WriteOperation | Batch; key: KeyInUse }[];
}

/** Sends a request, and lets all clients know what it shows. Resolves to no exchange if the instance does not run. */
export async function send(
  workload: Workload,
  slot: number,
  sent: Operation | Batch,
  key: KeyInUse,
): Promise<Exchange[]> {
  const exchanges = await workload.cluster.send(slot, sent, key);
  for (const exchange of exchanges) note(workload, exchange);
  return exchanges;
}

function note(workload: Workload, { operation, response }: Exchange): void {
  if (response === undefined || !("id" in operation || operation.kind === "create")) return;
  const { status, body, headers } = response;
  const { removedPets } = workload;
  if (operation.kind === "remove" && status === 204) removedPets.add(operation.id);
  if (operation.kind === "restore" && status === 200) removedPets.delete(operation.id);
  if (status !== 200 && status !== 201) return;
  const subject = subjectOf(operation);
  const { id } = JSON.parse(body);
  if (subject === "pet") workload.newestPetId = Math.max(workload.newestPetId, id);
  const etag = headers.get("etag");
  if (etag !== null) workload.known[subject].set(id, { etag, text: body });
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
    await send(workload, slot, drawUpdate(workload, random), key);
  }));
}
