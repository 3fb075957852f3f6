import type { Cluster } from "./cluster.ts";
import type { Code } from "./code_under_test.ts";
import type { CreateOperation, KeyInUse } from "./history.ts";

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
  /** Create requests with an Idempotency-Key, which may be repeated at any time. */
  idempotentCreates: { operation: CreateOperation; key: KeyInUse }[];
}

export const PET_STATUSES = ["available", "pending", "sold"];
