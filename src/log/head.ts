/** The head of the log: the record that every append checks and replaces. */

import { z } from "zod";
import { Sha256Hex } from "../../events/api_key.ts";
import { GENESIS_HASH } from "../../events/event.ts";
import { ServiceError } from "../service_error.ts";
import { HEAD_KEY, isRestoreMark } from "../keyspace.ts";
import type { Store, StoreEntry } from "../store/store.ts";

const Count = z.int().min(0);

const Head = z.strictObject({
  /** Version of the keyspace. */
  format: z.literal(1),
  /** Position of the last event; 0 in an empty log. */
  position: Count,
  /** Id of the newest pet; 0 without pets. */
  lastPetId: Count,
  /** SHA-256 (hex) of the last line. */
  lastHash: Sha256Hex,
  /** Position of the last API key event; 0 without one. */
  keyPosition: Count,
  /** Generation of the projections that requests read. */
  generation: Count,
  /** The generation that a replay builds, and the last position that the replay itself must project. */
  building: z.strictObject({ generation: Count, until: Count }).optional(),
  /** An old generation that is no longer served or built, while it still has records. */
  removing: Count.optional(),
});
export type Head = z.infer<typeof Head>;

/** A head as read from the store; `versionstamp` is `null` if the store has no head yet. */
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
 * Reads the head. Rejects with `ForeignStoreError` if this service did not write the record, and with
 * `store_unavailable` if a restore is not finished.
 */
export async function readHead(store: Store): Promise<HeadEntry> {
  return headEntryOf(await store.get(HEAD_KEY));
}

/** Decodes the entry of {@linkcode HEAD_KEY}. Throws as {@linkcode readHead} rejects. */
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

/** Returns the generations that a commit on this head must write. */
export function writtenGenerations(head: Head): number[] {
  return head.building === undefined
    ? [head.generation]
    : [head.generation, head.building.generation];
}

/** The store was opened, but another program wrote its data. */
export class ForeignStoreError extends Error {
  override name = "ForeignStoreError";
}
