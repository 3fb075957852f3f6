import type { Cluster } from "./cluster.ts";
import type { Code } from "./code_under_test.ts";
import type { Exchange, KeyInUse, WriteOperation } from "./history.ts";

/** The state that all clients and operators of a simulation share. */
export interface Workload {
  cluster: Cluster;
  code: Code;
  /**
   * Requests that fill commits up to the limits of the store, many at once: pets with names of the maximum
   * length, or creates with an Idempotency-Key.
   */
  load: "usual" | "longNames" | "idempotencyKeys";
  /** Whether the faults of the round include jumps of clocks. */
  clocksJump: boolean;
  /** The keys that were issued. */
  keys: KeyInUse[];
  /** The newest pet id that a client has received. */
  newestPetId: number;
  /** Number of update attempts so far that have a tag. */
  tags: number;
  /** The newest response with a pet that a client has received, by the pet's id. */
  knownPets: Map<number, KnownPet>;
  /** Requests with an Idempotency-Key, which may be repeated at any time. */
  idempotentWrites: { operation: WriteOperation; key: KeyInUse }[];
}

export const PET_STATUSES = ["available", "pending", "sold"];

export interface KnownPet {
  etag: string;
  /** The JSON text of the pet. */
  text: string;
}

/** Lets all clients know the pet of a response. */
export function noteResponse(workload: Workload, { operation, response }: Exchange): void {
  const { status, body, headers } = response!;
  if (operation.kind === "list" || status !== 200 && status !== 201) return;
  const { id } = JSON.parse(body);
  workload.newestPetId = Math.max(workload.newestPetId, id);
  const etag = headers.get("etag");
  if (etag !== null) workload.knownPets.set(id, { etag, text: body });
}
