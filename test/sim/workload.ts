import type { Cluster } from "./cluster.ts";
import type { Code } from "./code_under_test.ts";
import type { CreateOperation, Credentials } from "./history.ts";

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
  /** The keys that were issued. Clients may keep using a key after its revocation. */
  keys: KeyInUse[];
  /** The newest pet id that a client has received. */
  newestPetId: number;
  /** Create requests with an Idempotency-Key, which may be repeated at any time. */
  idempotentCreates: { operation: CreateOperation; credentials: Credentials }[];
}

export interface KeyInUse {
  keyId: string;
  token: string;
  /** Whether operators never revoke the key, so that a valid key always exists. */
  isKept: boolean;
  /** Whether the service must not add pets with it. */
  isReadOnly: boolean;
}

export const PET_STATUSES = ["available", "pending", "sold"];

export function credentialsOf({ keyId, token, isReadOnly }: KeyInUse): Credentials {
  return { kind: "key", keyId, token, isReadOnly };
}
