/** The command of a client: it appends an event on behalf of an API key, once for each Idempotency-Key. */

import { type EventMetadata, type Head, type Runtime, ServiceError } from "eventstore-less";
import {
  type Appender,
  type Command,
  findEarlierEvent,
  type HeadEntry,
  hmacSha256Hex,
} from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { EventBody, RecordedEvent } from "../../events/all_events.ts";
import { APPLICATION } from "../application.ts";
import { type ApiKeyReader, expectMayWrite } from "./api_key_reader.ts";

export interface WriteDeps {
  appender: Appender<EventBody>;
  runtime: Runtime;
  apiKeys: ApiKeyReader;
  store: Store;
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
export type DecidedBody = EventBody & Pick<EventMetadata, "predecessor">;

/** The effect of a request. */
export interface WriteRule<Before> extends Pick<Command, "subject" | "group"> {
  /** Reads what decide() needs besides the head. */
  read(base: HeadEntry): Promise<Before>;
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

/** The data that a request reads before it decides. */
interface PreparedWrite<Before> {
  /** The id of the API key. */
  actor: string;
  /** The event that the Idempotency-Key has caused before; then nothing is decided. */
  earlier?: RecordedEvent;
  before?: Before;
}

/**
 * Carries out a request: reads, decides and appends. The key and the rule are checked as of exactly the head that the
 * commit replaces, so a revoked key never writes. If the Idempotency-Key has caused an event before, nothing is appended:
 * that event is the outcome. Rejects as {@linkcode Appender.append}, with `invalid_credentials`, `read_only_key` and
 * `idempotency_key_reused`, and as the rule does.
 */
export async function writeWithKey<Before>(
  deps: WriteDeps,
  { token, idempotencyKey }: WriteRequest,
  rule: WriteRule<Before>,
): Promise<Written<Before>> {
  const { appender, runtime } = deps;
  const eventTimeMs = runtime.now();
  const id = runtime.newId();
  const time = new Date(eventTimeMs).toISOString();
  // Nobody can guess it from a published log, because the token is secret.
  const logged = idempotencyKey === undefined ? undefined : hmacSha256Hex(token, idempotencyKey);
  const inputs = { token, logged, eventTimeMs };
  const command: Command<PreparedWrite<Before>, EventBody> = {
    owner: token,
    subject: rule.subject,
    group: rule.group,
    idempotencyKey: logged,
    prepare: (base) => prepareWrite(deps, base, inputs, rule),
    decide(head, prepared, last) {
      if (prepared.earlier !== undefined) return [];
      const decided = rule.decide(head, prepared.before as Before, last);
      if (decided === undefined) return [];
      const metadata: EventMetadata = { id, time, actor: prepared.actor };
      if (logged !== undefined) metadata.idempotencyKey = logged;
      return [{ ...metadata, ...decided }];
    },
  };
  const { events: [event], prepared: { earlier, before } } = await appender.append(command);
  if (earlier === undefined) return { event, isDuplicate: false, before };
  expectOutcome(rule, earlier);
  return { event: earlier, isDuplicate: true };
}

function expectOutcome(rule: Pick<WriteRule<never>, "isOutcome">, earlier: RecordedEvent): void {
  if (rule.isOutcome(earlier)) return;
  const message = "The Idempotency-Key was sent with another request before; nothing was stored";
  throw new ServiceError("idempotency_key_reused", message);
}

interface WriteInputs {
  token: string;
  /** The HMAC of the Idempotency-Key. */
  logged: string | undefined;
  eventTimeMs: number;
}

/** If an event of this Idempotency-Key is stored after the look-up, the head moves, so the commit fails. */
async function prepareWrite<Before>(
  { apiKeys, runtime, store }: WriteDeps,
  base: HeadEntry,
  inputs: WriteInputs,
  rule: WriteRule<Before>,
): Promise<PreparedWrite<Before>> {
  const { head } = base;
  const { token, logged, eventTimeMs } = inputs;
  // The API key must be valid now and at the time of the event, because the clock may have been set back.
  const apiKey = await apiKeys.authorize(token, head, Math.max(runtime.now(), eventTimeMs));
  expectMayWrite(apiKey);
  const actor = apiKey.id;
  if (logged === undefined) return { actor, before: await rule.read(base) };
  // 1. The subject is read first: if it shows that this very request has landed, the look-up finds the event.
  const [read] = await Promise.allSettled([rule.read(base)]);
  // 2. An earlier event is the outcome, even if the subject cannot be read now. The age is measured at the time of the
  // event, so two events of one Idempotency-Key are a day apart.
  const use = { actor, idempotencyKey: logged, timeMs: eventTimeMs };
  const earlier = await findEarlierEvent(APPLICATION, store, head, use);
  if (earlier !== undefined) return { actor, earlier };
  // 3. Only a request without an earlier event fails because of the subject.
  if (read.status === "rejected") throw read.reason;
  return { actor, before: read.value };
}
