import type { Application } from "../application.ts";
import type { Body, Head, Recorded } from "../definitions.ts";
import { idempotencyRecordKey, projectionKey } from "../keyspace.ts";
import { decodeRecord, proveRecord } from "../projections/project.ts";
import type { KeyRange, Store } from "../store/store.ts";

/** A use of an Idempotency-Key. */
export interface IdempotencyKeyUse {
  /** The actor who used it. */
  actor: string;
  /** The hash of the Idempotency-Key, as the log has it. */
  idempotencyKey: string;
  /** The time of the use, in milliseconds since the Unix epoch. */
  timeMs: number;
}

/**
 * The events of the command that an actor gave with an Idempotency-Key that has not expired; none without such a command.
 * Events after the head may be found or not.
 */
export async function findEarlierEvents<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  { generation }: Head,
  { actor, idempotencyKey, timeMs }: IdempotencyKeyUse,
): Promise<Recorded<EventBody>[]> {
  const prefix = projectionKey(generation, idempotencyRecordKey(actor, idempotencyKey));
  const limit = store.limits.listEntries;
  const events: Recorded<EventBody>[] = [];
  let rest: KeyRange = { prefix };
  for (;;) {
    const entries = await store.list(rest, { limit, reverse: true });
    for (const entry of entries) {
      // The store keeps a record for some time after it expires.
      if (Date.parse(decodeRecord(application, entry).expiresAt) <= timeMs) return events;
      const position = entry.key.at(-1) as number;
      // The events of a command follow each other.
      if (events.length > 0 && position !== events[0].position - 1) return events;
      events.unshift(await proveRecord(application, store, entry, position));
    }
    if (entries.length < limit) return events;
    rest = { start: prefix, end: entries.at(-1)!.key };
  }
}
