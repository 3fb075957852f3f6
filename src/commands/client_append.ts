import type { EventBody, EventMetadata, PetEvent } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import type { Appender } from "../append/appender.ts";
import type { Command } from "../append/command.ts";
import type { ApiKey } from "../log/api_keys.ts";
import type { Head, HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { ApiKeyReader } from "../projections/api_key_reader.ts";
import {
  findEventByIdempotencyKey,
  loggedIdempotencyKeys,
} from "../projections/find_event_by_idempotency_key.ts";
import type { PetReader } from "../projections/pet_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import type { SingleFlight } from "./single_flight.ts";

export interface ClientAppendDeps {
  appender: Appender;
  /** Requests with an Idempotency-Key, by that key. */
  flights: SingleFlight<PetEvent>;
  heads: HeadReader;
  runtime: Runtime;
  keys: ApiKeyReader;
  pets: PetReader;
  store: Store;
}

export interface ClientRequest {
  /** The text of the API key. */
  token: string;
  /** Identifies repeats of the same request. */
  idempotencyKey?: string;
}

/** The rule of a request: at most one event, decided on the state of a head. */
export interface Rule {
  /** The pet that the event changes, if it changes one. */
  petId?: number;
  /** Reads what decide() needs. Rejects if the request must be refused. */
  prepare?(base: HeadEntry): Promise<void>;
  /** As of `Command`, but at most one event. Throws if the request must be refused. */
  decide(head: Head, changed?: Pet): PetEventBody | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: PetEvent): boolean;
}

export type PetEventBody = Extract<EventBody, { type: PetEvent["type"] }>;

/** `event` is absent if there was nothing to be done. */
export interface ClientOutcome {
  event?: PetEvent;
  /** Whether an earlier request with the same Idempotency-Key caused the event. */
  isDuplicate: boolean;
}

/**
 * Appends the event of a client's request, on behalf of its API key. The key and the rule are checked as of exactly the
 * head that the commit replaces, so a revoked key never writes. If the Idempotency-Key has caused an event before,
 * nothing is appended, and that event is the outcome. Rejects with the errors of {@linkcode Appender.append} and of the
 * rule, `invalid_credentials`, `read_only_key` and `idempotency_key_reused`.
 */
export async function clientAppend(
  deps: ClientAppendDeps,
  request: ClientRequest,
  rule: Rule,
): Promise<ClientOutcome> {
  const { token, idempotencyKey } = request;
  let isNew = false;
  const append = async () => {
    const command = new ClientCommand(deps, request, rule);
    const [event] = await deps.appender.append(command);
    isNew = event !== undefined;
    return event as PetEvent | undefined ?? command.earlier;
  };
  const event = idempotencyKey === undefined
    ? await append()
    : await deps.flights.share(`${token} ${idempotencyKey}`, append);
  if (isNew || event === undefined) return { event, isDuplicate: false };
  // The outcome may be shared with a request that began before the key was revoked.
  await deps.heads.use(({ head }) => deps.keys.authorize(token, head, deps.runtime.now()));
  if (rule.isOutcome(event)) return { event, isDuplicate: true };
  throw new ServiceError(
    "idempotency_key_reused",
    "The Idempotency-Key was sent with another request before; nothing was stored",
  );
}

/** Throws `read_only_key` if the key must not write. */
export function expectMayWrite(key: ApiKey): void {
  if (!key.isReadOnly) return;
  throw new ServiceError(
    "read_only_key",
    "The API key may only read: use a key that may add and change animals",
  );
}

class ClientCommand implements Command {
  readonly petId: number | undefined;
  /** The event that the Idempotency-Key caused earlier, as of the head of the last prepare(). */
  earlier: PetEvent | undefined;
  #deps: ClientAppendDeps;
  #request: ClientRequest;
  #rule: Rule;
  #eventTimeMs: number;
  /** How the log may name the Idempotency-Key: empty without one. */
  #logged: string[];
  #metadata: EventMetadata;

  constructor(deps: ClientAppendDeps, request: ClientRequest, rule: Rule) {
    const { token, idempotencyKey } = request;
    this.petId = rule.petId;
    this.#deps = deps;
    this.#request = request;
    this.#rule = rule;
    this.#eventTimeMs = deps.runtime.now();
    this.#logged = idempotencyKey === undefined ? [] : loggedIdempotencyKeys(token, idempotencyKey);
    this.#metadata = {
      id: deps.runtime.newId(),
      time: new Date(this.#eventTimeMs).toISOString(),
      actor: "",
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: this.#logged[0] }),
    };
  }

  /**
   * Checks the API key, and finds an event that the same Idempotency-Key caused earlier. On this instance, `flights`
   * runs one such request at a time. Another instance that appends such an event moves the head. So the event is either
   * found here, or the commit on this head fails.
   */
  async prepare(base: HeadEntry): Promise<void> {
    const { runtime, keys, store } = this.#deps;
    const { head } = base;
    // The clock may have been set back. At the time of the event, the key must be valid too.
    const key = await keys.authorize(
      this.#request.token,
      head,
      Math.max(runtime.now(), this.#eventTimeMs),
    );
    expectMayWrite(key);
    this.#metadata.actor = key.id;
    if (this.#logged.length > 0) {
      // The age is measured at the time of the event, so two events of one Idempotency-Key are a day apart.
      const query = { actor: key.id, logged: this.#logged, head, now: this.#eventTimeMs };
      this.earlier = await findEventByIdempotencyKey(store, query) as PetEvent | undefined;
    }
    if (this.earlier === undefined) await this.#rule.prepare?.(base);
  }

  decide(head: Head, changed?: Pet) {
    const body = this.earlier === undefined ? this.#rule.decide(head, changed) : undefined;
    return body === undefined ? [] : [{ ...this.#metadata, ...body }];
  }
}
