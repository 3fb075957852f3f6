import type { Application } from "../application.ts";
import type { Head } from "../definitions.ts";
import { idempotencyRecordKey, projectionKey } from "../keyspace.ts";
import { decodeRecord } from "../projections/project.ts";
import type { Store } from "../store/store.ts";
import type { IdempotencyKeyUse } from "./earlier_events.ts";
import { sharedDigitsOf } from "./idempotency_hash.ts";

/** A digit after all those of a hash. */
const AFTER_DIGITS = "g";

/**
 * The hashes of the parts of an Idempotency-Key, and of the key without a part, with which an actor has caused events and
 * which have not expired. `idempotencyKey` is the hash of any of them. Looks at one page of a list, which is enough for
 * some hundred parts.
 */
export async function usedParts(
  application: Application,
  store: Store,
  { generation }: Head,
  { actor, idempotencyKey, timeMs }: IdempotencyKeyUse,
): Promise<string[]> {
  const shared = sharedDigitsOf(idempotencyKey);
  const start = projectionKey(generation, idempotencyRecordKey(actor, shared));
  const end = projectionKey(generation, idempotencyRecordKey(actor, shared + AFTER_DIGITS));
  const entries = await store.list({ start, end }, { limit: store.limits.listEntries });
  const valid = entries.filter((entry) => {
    return Date.parse(decodeRecord(application, entry).expiresAt) > timeMs;
  });
  return valid.map(({ key }) => key.at(-2) as string);
}
