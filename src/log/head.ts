/** The head of the log: the one record that every commit replaces and checks. */

import { z } from "zod";
import { Sha256Hex } from "../../events/api_key.ts";
import { GENESIS_HASH } from "../../events/event.ts";
import { ServiceError } from "../service_error.ts";
import { HEAD_KEY, isRestoreMark } from "../store/keyspace.ts";
import type { Store, StoreEntry } from "../store/store.ts";

const Count = z.int().min(0);

const Head = z.strictObject({
  /** Version of the store's layout. */
  format: z.literal(1),
  /** Position of the last event; 0 in an empty log. */
  position: Count,
  /** Id of the newest pet; 0 where there is none. */
  lastPetId: Count,
  /** SHA-256 (hex) of the last line. */
  lastHash: Sha256Hex,
  /** Position of the last event that concerns an API key; 0 where there is none. */
  keyPosition: Count,
  /** Generation of the projections being served. */
  generation: Count,
  /** The generation that a replay builds, and the last position that the replay itself must fill in. */
  building: z.strictObject({ generation: Count, until: Count }).optional(),
  /** A generation that is neither served nor built any more, for as long as records of it are left. */
  removing: Count.optional(),
});
export type Head = z.infer<typeof Head>;

/** The head as it was read; `versionstamp` is `null` where the store has none yet. */
export interface HeadEntry {
  head: Head;
  versionstamp: string | null;
}

export const EMPTY_HEAD: Head = {
  format: 1,
  position: 0,
  lastPetId: 0,
  lastHash: GENESIS_HASH,
  keyPosition: 0,
  generation: 1,
};

/**
 * Reads the head. Rejects with `ForeignStoreError` where the record is none of ours, and with
 * `store_unavailable` where a restore is not done.
 */
export async function readHead(store: Store): Promise<HeadEntry> {
  return headEntryOf(await store.get(HEAD_KEY));
}

/** The head of what the store has under the head's key. */
export function headEntryOf(entry: StoreEntry | null): HeadEntry {
  if (entry === null) return { head: EMPTY_HEAD, versionstamp: null };
  return { head: decodeHead(entry.value), versionstamp: entry.versionstamp };
}

export function encodeHead(head: Head): string {
  return JSON.stringify(head);
}

function decodeHead(value: unknown): Head {
  if (isRestoreMark(value)) {
    throw new ServiceError("store_unavailable", "A log is being restored into the store");
  }
  try {
    return Head.parse(JSON.parse(value as string));
  } catch (cause) {
    throw new ForeignStoreError("The head record is none of Animal Store's", { cause });
  }
}

/** The generations that a commit on this head must write. */
export function writtenGenerations(head: Head): number[] {
  return head.building === undefined
    ? [head.generation]
    : [head.generation, head.building.generation];
}

/** The store was opened, but what it holds was not written by this service. */
export class ForeignStoreError extends Error {
  override name = "ForeignStoreError";
}
