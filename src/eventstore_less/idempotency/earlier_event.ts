import type { Application } from "../application.ts";
import type { Body, Head, Recorded } from "../definitions.ts";
import { idempotencyRecordKey, projectionKey } from "../keyspace.ts";
import { decodeRecord, proveRecord } from "../projections/project.ts";
import type { Store } from "../store/store.ts";

/** A use of an Idempotency-Key. */
export interface IdempotencyKeyUse {
  /** The id of the API key. */
  actor: string;
  /** The HMAC of the Idempotency-Key. */
  idempotencyKey: string;
  /** The time of the use, in milliseconds since the Unix epoch. */
  timeMs: number;
}

/**
 * The event that an actor caused with an Idempotency-Key that has not expired. An event after the head may be found or
 * not.
 */
export async function findEarlierEvent<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  { generation }: Head,
  { actor, idempotencyKey, timeMs }: IdempotencyKeyUse,
): Promise<Recorded<EventBody> | undefined> {
  const prefix = projectionKey(generation, idempotencyRecordKey(actor, idempotencyKey));
  const [entry] = await store.list({ prefix }, { limit: 1, reverse: true });
  // The store keeps a record for some time after it expires.
  if (entry === undefined || Date.parse(decodeRecord(application, entry).expiresAt) <= timeMs) {
    return undefined;
  }
  return await proveRecord(application, store, entry, entry.key.at(-1) as number);
}
