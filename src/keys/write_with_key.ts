/** The command of a client: it appends an event on behalf of an API key, once for each Idempotency-Key. */

import {
  type CommandSnapshot,
  type EventCommand,
  type EventStore,
  type Head,
  type NewEvent,
  type Runtime,
  ServiceError,
} from "eventstore-less";
import type { EventBody, RecordedEvent } from "../../events/all_events.ts";
import { type ApiKeyReader, expectMayWrite } from "./api_key_reader.ts";

export interface WriteDeps {
  append: EventStore<EventBody>["append"];
  runtime: Pick<Runtime, "now">;
  apiKeys: ApiKeyReader;
}

export interface WriteRequest {
  token: string;
  idempotencyKey?: string;
}

/** What a client expects of the resource that it writes. A resource that does not exist has no JSON text. */
export interface Expectations {
  /** Whether the client expects this text. If set, a write without a resource is refused, too. */
  isExpected?: (text: string) => boolean;
  /** Whether the client wants nothing written over this text. */
  isExcluded?: (text: string) => boolean;
}

/** The type and the data of an event, and the position of the event of its subject that it was decided on. */
export type DecidedBody = NewEvent<EventBody>;

/** The effect of a request. */
export interface WriteRule<Before>
  extends Pick<EventCommand<Before, EventBody>, "subject" | "group"> {
  /** Reads what decide() needs besides the head. `time` is that of the event. */
  read(base: Pick<CommandSnapshot, "head" | "time">): Promise<Before>;
  /**
   * The event of the request; `undefined` if nothing changes. `last` is the event of the subject that the commit already
   * has. Depends only on its arguments. Throws the refusal.
   */
  decide(head: Head, before: Before, last?: RecordedEvent): DecidedBody | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: RecordedEvent): boolean;
}

/** The outcome of a request. */
export interface Written<Before> {
  /** Absent if the request changes nothing. */
  event?: RecordedEvent;
  /** Whether an earlier request with the same Idempotency-Key has caused the event. */
  isDuplicate: boolean;
  /** The data that the request has read; absent if an earlier request is the outcome. */
  before?: Before;
}

/**
 * Carries out a request: reads, decides and appends. The key and the rule are checked as of exactly the head that the
 * commit replaces, so a revoked key never writes. If the Idempotency-Key has caused an event before, nothing is appended:
 * that event is the outcome. Rejects as {@linkcode EventStore.append}, with `invalid_credentials`, `read_only_key` and
 * `idempotency_key_reused`, and as the rule does.
 */
export async function writeWithKey<Before>(
  deps: WriteDeps,
  { token, idempotencyKey }: WriteRequest,
  rule: WriteRule<Before>,
): Promise<Written<Before>> {
  const { events: [event], isDuplicate, prepared: before } = await deps.append<Before>({
    owner: token,
    subject: rule.subject,
    group: rule.group,
    // Nobody can guess it from a published log, because the token is secret.
    idempotency: idempotencyKey === undefined ? undefined : { key: idempotencyKey, secret: token },
    actor: (snapshot) => authorize(deps, token, snapshot),
    prepare: (snapshot) => rule.read(snapshot),
    decide(head, { prepared, last }) {
      const decided = rule.decide(head, prepared, last);
      return decided === undefined ? [] : [decided];
    },
  });
  if (isDuplicate) expectOutcome(rule, event);
  return { event, isDuplicate, before };
}

/** The id of an API key that may write as of a head. */
async function authorize(
  { apiKeys, runtime }: WriteDeps,
  token: string,
  { head, time }: CommandSnapshot,
): Promise<string> {
  // The API key must be valid now and at the time of the event, because the clock may have been set back.
  const apiKey = await apiKeys.authorize(token, head, Math.max(runtime.now(), Date.parse(time)));
  expectMayWrite(apiKey);
  return apiKey.id;
}

function expectOutcome(rule: Pick<WriteRule<never>, "isOutcome">, earlier: RecordedEvent): void {
  if (rule.isOutcome(earlier)) return;
  const message = "The Idempotency-Key was sent with another request before; nothing was stored";
  throw new ServiceError("idempotency_key_reused", message);
}
