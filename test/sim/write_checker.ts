import { createHmac } from "node:crypto";
import {
  type CreateOperation,
  type Exchange,
  FIRST_TAG,
  isWrite,
  type KeyInUse,
  NOTHING_STORED,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import type { Oracle, PetState } from "./oracle.ts";
import { idempotencyKeyExpiresAt, shortened } from "./record_faults.ts";

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
      switch (response?.status) {
        case 200:
          this.#checkChanged(exchange, operation as UpdateOperation);
          break;
        case 201:
          this.#checkCreated(exchange, operation as CreateOperation);
          break;
        case 412:
          this.#checkNotExpected(exchange, operation as UpdateOperation);
          break;
        case 409:
          this.#checkReused(exchange);
          break;
      }
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

  /** The event of a request that was sent with an Idempotency-Key: its own one, or an earlier one that has not expired. */
  #checkAge(exchange: Exchange, event: PetState): void {
    const { operation, node, startStep, startAt, endAt } = exchange;
    if (event.step > startStep) return;
    if ((operation as WriteOperation).idempotencyKey === undefined) {
      return this.#report(exchange, "The response holds an older pet");
    }
    if (node.clockBetween(startAt, endAt).earliest >= idempotencyKeyExpiresAt(event)) {
      this.#report(exchange, "The Idempotency-Key was used after its expiry");
    }
  }

  #checkCreated(exchange: Exchange, operation: CreateOperation): void {
    const { response, key, endStep } = exchange;
    const { body } = response!;
    const pet = this.#byAttempt.get(attemptOf(operation))?.find(({ petText }) => petText === body);
    if (pet === undefined || pet.step > endStep) {
      return this.#report(exchange, "The pet was acknowledged but is not in the log");
    }
    const { categoryId, status } = pet.event.data;
    if (categoryId !== operation.categoryId || status !== operation.status) {
      this.#report(exchange, "The added pet differs from the request");
    }
    if (pet.event.actor !== key.keyId) {
      this.#report(exchange, `The actor of the pet is ${pet.event.actor}`);
    }
    if (pet.event.idempotencykey !== loggedKey(operation, key)) {
      this.#report(exchange, "The Idempotency-Key was not recorded");
    }
    this.#checkAge(exchange, pet);
  }

  /** A change that was acknowledged is in the log, on a pet that was an expected one; or there was nothing to change. */
  #checkChanged(exchange: Exchange, operation: UpdateOperation): void {
    const { response, key, startStep, endStep } = exchange;
    const { body } = response!;
    const { petId, patch, expected, idempotencyKey } = operation;
    const states = this.#oracle.pets[petId - 1] ?? [];
    const events = states.filter((state) =>
      state.petText === body && state.step <= endStep && state.event.actor === key.keyId &&
      mayHaveCaused({ operation }, state) &&
      state.event.idempotencykey === loggedKey(operation, key)
    );
    const own = events.filter(({ step }) => step > startStep);
    const isExpected = ({ before }: PetState) =>
      expected === undefined || before?.petText === expected;
    // Another request may have changed the pet to the same state, even in the same commit.
    const event = own.findLast(isExpected) ?? own.at(-1) ??
      (idempotencyKey === undefined ? undefined : events.at(-1));
    const wasUnchanged = states.some((state) =>
      state.petText === body && isCurrent(state, startStep, endStep) &&
      isPatched(patch, state.event.data) && (expected === undefined || expected === body)
    );
    const isOwn = event !== undefined && event.step > startStep && isExpected(event);
    if (wasUnchanged && !isOwn) return;
    if (event === undefined) {
      return this.#report(exchange, "The change was acknowledged but is not in the log");
    }
    if (!isExpected(event)) {
      this.#report(exchange, "The changed pet was not the expected one");
    }
    this.#checkAge(exchange, event);
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
