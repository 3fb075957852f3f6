import { createHmac } from "node:crypto";
import { idempotencyKeyExpiresAt } from "./expected_records.ts";
import {
  type Exchange,
  FIRST_TAG,
  isWrite,
  type KeyInUse,
  NOTHING_STORED,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import { type Oracle, type PetState, shortened } from "./oracle.ts";

type WriteExchange = Exchange & { operation: WriteOperation };

/** Checks the requests that add or change a pet: which events they caused, and what their responses say. */
export class WriteChecker {
  #oracle: Oracle;
  #violations: string[];
  #report: (exchange: Exchange, violation: string) => void;
  /** All states of all pets, in the order of the log. */
  #states: PetState[];
  /** The events of each attempt, by its name. */
  #byAttempt: Map<string | undefined, PetState[]>;

  constructor(
    oracle: Oracle,
    violations: string[],
    report: (exchange: Exchange, violation: string) => void,
  ) {
    this.#oracle = oracle;
    this.#violations = violations;
    this.#report = report;
    this.#states = oracle.pets.flat().sort((one, other) => one.position - other.position);
    this.#byAttempt = Map.groupBy(this.#states, attemptOfEvent);
  }

  check(exchanges: readonly Exchange[]): void {
    const writes = exchanges.filter((it): it is WriteExchange => isWrite(it.operation));
    this.#checkAttempts(writes);
    this.#checkIdempotency();
    for (const exchange of writes) {
      const { operation, response } = exchange;
      const status = response?.status;
      if (status === 200 || status === 201) this.#checkAcknowledged(exchange);
      else if (status === 412) this.#checkNotExpected(exchange, operation as UpdateOperation);
      else if (status === 409) this.#checkReused(exchange);
    }
  }

  /**
   * Without an Idempotency-Key, an attempt causes at most one event. Each event has a request that may have caused it, and
   * was not refused.
   */
  #checkAttempts(writes: WriteExchange[]): void {
    const attempts = Map.groupBy(writes, ({ operation }) => attemptOf(operation));
    for (const [name, exchanges] of attempts) {
      if (name === undefined) continue;
      const events = this.#byAttempt.get(name) ?? [];
      const [first] = exchanges;
      if (first.operation.idempotencyKey === undefined && events.length > 1) {
        this.#report(first, `The request caused ${events.length} events`);
      }
    }
    for (const [name, events] of this.#byAttempt) {
      for (const event of events) {
        // A tagged request that is repeated after a day may change only something else.
        const candidates = name === undefined ? writes : attempts.get(name) ?? [];
        const isCaused = candidates.some((it) => mayHaveCaused(it, event) && !isRefused(it));
        if (isCaused) continue;
        this.#violations.push(
          `Each request for it was refused, or there was none: ${shortened(event.text)}`,
        );
      }
    }
  }

  /**
   * A write that was acknowledged is in the log: a pet as it was sent, or the change of an expected pet. Or there was
   * nothing to change, or an earlier request with the Idempotency-Key did it.
   */
  #checkAcknowledged(exchange: WriteExchange): void {
    const { operation, response, key, node, startStep, startAt, endStep, endAt } = exchange;
    const { body } = response!;
    const update = operation.kind === "update" ? operation : undefined;
    const isExpected = (text?: string) =>
      update?.expected === undefined || text === update.expected;
    const states = this.#oracle.pets[(update?.petId ?? JSON.parse(body).id) - 1] ?? [];
    const events = states.filter((state) =>
      state.petText === body && state.step <= endStep && state.event.actor === key.keyId &&
      mayHaveCaused(exchange, state) &&
      state.event.idempotencykey === loggedKey(operation, key)
    );
    // Another request may have changed the pet to the same state, even in the same commit.
    const own = events.filter(({ step }) => step > startStep);
    if (own.some(({ before }) => isExpected(before?.petText))) return;
    const wasUnchanged = update !== undefined && isExpected(body) &&
      states.some((state) =>
        state.petText === body && isCurrent(state, startStep, endStep) &&
        isPatched(update.patch, state.event.data)
      );
    if (wasUnchanged) return;
    const event = own.at(-1) ?? (operation.idempotencyKey && events.at(-1));
    if (!event) {
      return this.#report(exchange, "The write was acknowledged but is not in the log");
    }
    if (!isExpected(event.before?.petText)) {
      this.#report(exchange, "The changed pet was not the expected one");
    }
    const { earliest } = node.clockBetween(startAt, endAt);
    if (event.step <= startStep && earliest >= idempotencyKeyExpiresAt(event)) {
      this.#report(exchange, "The Idempotency-Key was used after its expiry");
    }
  }

  #checkNotExpected(exchange: Exchange, { petId, expected }: UpdateOperation): void {
    const { startStep, endStep } = exchange;
    const wasAnother = expected !== undefined &&
      this.#oracle.pets[petId - 1]?.some((state) =>
        state.petText !== expected && isCurrent(state, startStep, endStep)
      );
    if (!wasAnother) this.#report(exchange, "The pet was always the expected one");
  }

  #checkReused(exchange: WriteExchange): void {
    const { operation, key, endStep } = exchange;
    const logged = loggedKey(operation, key);
    const wasUsed = logged !== undefined &&
      this.#states.some((state) =>
        state.event.idempotencykey === logged && state.event.actor === key.keyId &&
        state.step <= endStep && !mayHaveCaused(exchange, state)
      );
    if (!wasUsed) this.#report(exchange, "The Idempotency-Key was not sent with another request");
  }

  /** One Idempotency-Key causes one event until it expires by the clock of the node that decides. */
  #checkIdempotency(): void {
    const last = new Map<string, PetState>();
    for (const state of this.#states) {
      const { idempotencykey, actor } = state.event;
      if (idempotencykey === undefined) continue;
      const name = `${actor}/${idempotencykey}`;
      const earlier = last.get(name);
      last.set(name, state);
      if (earlier === undefined) continue;
      const { latest } = state.node.clockBetween(state.at - IN_FLIGHT_LIMIT_MS, state.at);
      if (latest < idempotencyKeyExpiresAt(earlier)) {
        this.#violations.push(
          `Events ${earlier.position} and ${state.position} have the same Idempotency-Key`,
        );
      }
    }
  }
}

/** Maximum time between a decision and its commit, in milliseconds. */
const IN_FLIGHT_LIMIT_MS = 30_000;

/** Whether a pet was in that state at some moment between the ends of two steps. */
export function isCurrent(state: PetState, startStep: number, endStep: number): boolean {
  return state.step <= endStep && state.endStep > startStep;
}

/** The name of the attempt that a request belongs to; `undefined` if nothing identifies it. */
function attemptOf(operation: WriteOperation): string | undefined {
  if (operation.kind === "create") return `create ${operation.name}`;
  return attemptOfTag(operation.patch.categoryId);
}

function attemptOfEvent({ event: { type, data } }: PetState): string | undefined {
  if (type === "PetCreated") return `create ${data.name}`;
  return "categoryId" in data.previous ? attemptOfTag(data.categoryId) : undefined;
}

function attemptOfTag(categoryId: number | undefined): string | undefined {
  return categoryId !== undefined && categoryId >= FIRST_TAG ? `update ${categoryId}` : undefined;
}

/** Whether an event is what the request asked for. */
function mayHaveCaused(
  { operation }: { operation: WriteOperation },
  { event: { type, data }, id }: PetState,
): boolean {
  if (operation.kind === "create") {
    return type === "PetCreated" && operation.name === data.name &&
      operation.categoryId === data.categoryId && operation.status === data.status;
  }
  return type === "PetUpdated" && operation.petId === id && isPatched(operation.patch, data) &&
    Object.keys(data.previous).every((name) => name in operation.patch);
}

/** Whether a pet has all values of a patch. */
function isPatched(patch: UpdateOperation["patch"], pet: Record<string, unknown>): boolean {
  return Object.entries(patch).every(([name, value]) => (pet[name] ?? null) === value);
}

function isRefused({ response }: Exchange): boolean {
  if (response === undefined || response.status < 400) return false;
  if (response.status < 500) return true;
  return NOTHING_STORED.includes(JSON.parse(response.body).code);
}

/** The name that the log gives to the Idempotency-Key of a request. */
function loggedKey({ idempotencyKey }: WriteOperation, { token }: KeyInUse): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  return createHmac("sha256", token).update(idempotencyKey).digest("hex");
}
