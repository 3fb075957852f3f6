import type { RecordedEvent } from "../../events/event.ts";
import { hmacSha256Hex, sha256Hex } from "../encoding/sha256.ts";
import { eventByIdempotencyKeyKey, projectionKey } from "../keyspace.ts";
import type { Head } from "../log/head.ts";
import { readEvents } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import { decodeRecord } from "./project.ts";

/**
 * How the log names an Idempotency-Key under the text of its API key, and how versions before format 4 named it. Nobody
 * can guess the first from a published log, because the text of the API key is secret.
 */
export function loggedIdempotencyKeys(
  token: string,
  idempotencyKey: string,
): [now: string, before: string] {
  return [hmacSha256Hex(token, idempotencyKey), sha256Hex(idempotencyKey)];
}

/**
 * The event that an API key caused with an Idempotency-Key, which the log names in one of these ways, if it has not
 * expired at `now`, in milliseconds. May or may not find an event after that head.
 */
export async function findEventByIdempotencyKey(
  store: Store,
  { actor, logged, head, now }: { actor: string; logged: string[]; head: Head; now: number },
): Promise<RecordedEvent | undefined> {
  const found = await Promise.all(logged.map((name) => {
    const prefix = projectionKey(head.generation, eventByIdempotencyKeyKey(actor, name));
    return store.list({ prefix }, { limit: 1, reverse: true });
  }));
  // The store keeps a record for some time after it expires.
  const valid = found.flat().find((entry) => Date.parse(decodeRecord(entry).expiresAt) > now);
  if (valid === undefined) return undefined;
  const position = valid.key.at(-1) as number;
  const [line] = await readEvents(store, { from: position, to: position }) ?? [];
  if (line !== undefined && logged.includes(line.event.idempotencyKey!)) return line.event;
  const message = `The log has no event of the Idempotency-Key at position ${position}`;
  throw new ServiceError("projection_damaged", message);
}
