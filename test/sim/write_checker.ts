import { createHmac } from "node:crypto";
import {
  type Exchange,
  FIRST_TAG,
  isPetWrite,
  type KeyInUse,
  NOTHING_STORED,
  type Part,
  type Target,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import { type Oracle, type PetState, shortened } from "./oracle.ts";

type WriteExchange = Exchange & { operation: WriteOperation };

/** Number of digits that the names of the parts of one Idempotency-Key share. */
const SHARED_DIGITS = 32;

const DAY_MS = 24 * 60 * 60 * 1_000;

export function isWriteExchange(exchange: Exchange): exchange is WriteExchange {
  return isPetWrite(exchange.operation);
}

/**
 * Without an Idempotency-Key, an attempt causes one event at most, and each removal or restore that was acknowledged an
 * event of its own; some request that was not refused caused each event.
 */
export function* checkAttempts(writes: WriteExchange[], oracle: Oracle): Iterable<string> {
  const attempts = Map.groupBy(writes, ({ operation }) => attemptOf(operation));
  for (const [name, events] of Map.groupBy(oracle.pets.flat(), attemptOfEvent)) {
    // A tagged request that is repeated after a day may change only something else.
    const candidates = name === undefined ? writes : attempts.get(name) ?? [];
    const mayBeRepeated = name === undefined || candidates[0]?.operation.idempotencyKey;
    if (events.length > 1 && !mayBeRepeated) yield `${name} caused ${events.length} events`;
    for (const event of events) {
      if (candidates.some((it) => mayHaveCaused(it, event) && !isRefused(it))) continue;
      yield `Each request for it was refused, or there was none: ${shortened(event.text)}`;
    }
  }
  const acknowledged = writes.filter(({ operation: { kind, idempotencyKey }, response }) =>
    ["remove", "restore"].includes(kind) && idempotencyKey === undefined &&
    [200, 204].includes(response?.status ?? 0)
  );
  const same = Map.groupBy(acknowledged, ({ operation }) => {
    return `${operation.kind} ${(operation as Target).petId}`;
  });
  for (const [name, requests] of same) {
    const [{ operation }] = requests;
    const states = oracle.pets[(operation as Target).petId - 1] ?? [];
    const events = states.filter((state) => mayHaveCaused({ operation }, state));
    if (requests.length > events.length) {
      yield `${name} was acknowledged ${requests.length} times, but is ${events.length} times in the log`;
    }
  }
}

/**
 * The changes of one pet by a batch are in the log in their order. Its addition is not one of them: a client cannot know the
 * id before. If a batch is sent again, what had changed nothing is
 * carried out after the others.
 */
export function* checkOrder(writes: WriteExchange[], oracle: Oracle): Iterable<string> {
  const sent = Map.groupBy(writes, ({ operation, key }) => loggedKey(operation, key));
  const partOf = ({ event }: PetState): Part | undefined => {
    const [first, again] = sent.get(event.idempotencykey ?? "") ?? [];
    return again === undefined ? first?.operation.part : undefined;
  };
  for (const [, ...changes] of oracle.pets) {
    const parts = changes.map(partOf).filter((part) => part !== undefined);
    for (const ofBatch of Map.groupBy(parts, ({ batch }) => batch).values()) {
      const indexes = ofBatch.map(({ index }) => index);
      const sorted = indexes.toSorted((one, other) => one - other);
      if (indexes.join() === sorted.join()) continue;
      yield `The writes of a batch to pet ${changes[0].id} have the order ${indexes}`;
    }
  }
}

/** Checks what the response says about the events that the request caused. */
export function* checkWrite(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, response } = exchange;
  const status = response?.status;
  if ([200, 201, 204].includes(status ?? 0)) {
    yield* checkFirstBatch(exchange, oracle);
    yield* checkAcknowledged(exchange, oracle);
  } else if (status === 404) yield* checkNotRepeated(exchange, oracle);
  else if (status === 412) yield* checkNotExpected(exchange, operation as Target, oracle);
  else if (status === 409) yield* checkConflict(exchange, oracle);
}

/**
 * A write that was acknowledged is in the log: a pet as it was sent, or the change or removal of an expected pet. Or
 * there was nothing to change, or an earlier request with the Idempotency-Key did it.
 */
function* checkAcknowledged(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, response, key, node, startStep, startAt, endStep, endAt } = exchange;
  const { body } = response!;
  const { kind } = operation;
  const target = kind === "create" ? undefined : operation;
  const isExpected = (text?: string) => text === (target?.expected ?? text);
  const states = oracle.pets[(target?.petId ?? JSON.parse(body).id) - 1] ?? [];
  const events = states.filter((state) =>
    (kind === "remove" || state.petText === body) && state.step <= endStep &&
    state.event.actor === key.keyId &&
    mayHaveCaused(exchange, state) &&
    state.event.idempotencykey === loggedKey(operation, key)
  );
  // Another request may have changed the pet to the same state, even in the same commit.
  const own = events.filter(({ step }) => step > startStep);
  if (own.some(({ before }) => isExpected(before?.petText))) return;
  const wasUnchanged = kind === "update" && isExpected(body) &&
    states.some((state) =>
      !state.isRemoved && state.petText === body && isCurrent(state, startStep, endStep) &&
      isPatched(operation.patch, state.event.data)
    );
  if (wasUnchanged) return;
  const event = own.at(-1) ?? (operation.idempotencyKey && events.at(-1));
  if (!event) return yield "The write was acknowledged but is not in the log";
  if (!isExpected(event.before?.petText)) yield "The changed pet was not the expected one";
  const { earliest } = node.clockBetween(startAt, endAt);
  if (event.step <= startStep && earliest >= Date.parse(event.event.time) + DAY_MS) {
    yield "The Idempotency-Key was used after its expiry";
  }
}

/** A request that is repeated within a day is acknowledged although its pet was removed, or restored, since. */
function* checkNotRepeated(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, key, node, startStep, startAt, endAt } = exchange;
  const logged = loggedKey(operation, key);
  const { latest } = node.clockBetween(startAt, endAt);
  // A record that is over by the true time may be gone, although it is still valid by a clock that is far behind.
  const time = Math.max(latest, endAt);
  const isRepeated = logged !== undefined &&
    oracle.pets.flat().some((state) =>
      state.event.idempotencykey === logged && state.step <= startStep &&
      !oracle.lostPositions.has(state.position) &&
      time < Date.parse(state.event.time) + DAY_MS
    );
  if (isRepeated) yield "The Idempotency-Key was used before, but the request was refused";
}

function* checkNotExpected(
  { operation: { kind }, startStep, endStep }: Exchange,
  { petId, expected }: Target,
  oracle: Oracle,
) {
  const isRemoved = kind === "restore";
  const wasAnother = expected !== undefined &&
    oracle.pets[petId - 1]?.some((state) =>
      state.isRemoved === isRemoved && state.petText !== expected &&
      isCurrent(state, startStep, endStep)
    );
  if (!wasAnother) yield "The pet was always the expected one";
}

function* checkConflict(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, response, startStep, endStep } = exchange;
  const { code } = JSON.parse(response!.body);
  if (code === "idempotency_key_reused") return yield* checkReused(exchange, oracle);
  if (code !== "pet_not_removed") return yield "Nothing was erased";
  yield* checkNotRepeated(exchange, oracle);
  const states = oracle.pets[(operation as Target).petId - 1] ?? [];
  const wasThere = states.some((state) => !state.isRemoved && isCurrent(state, startStep, endStep));
  if (!wasThere) yield "The pet was always removed";
}

function* checkReused(exchange: WriteExchange, oracle: Oracle) {
  const { operation, key, endStep } = exchange;
  const logged = loggedKey(operation, key);
  const wasUsed = logged !== undefined &&
    oracle.pets.flat().some((state) =>
      state.event.idempotencykey === logged && state.event.actor === key.keyId &&
      state.step <= endStep && !mayHaveCaused(exchange, state)
    );
  const wasOther = usesOfOtherBatches(exchange, oracle).some(({ step }) => step <= endStep);
  if (!wasUsed && !wasOther) yield "The Idempotency-Key was not sent with another request";
}

/** A batch is refused if its Idempotency-Key was used within a day, but for another one. */
function* checkFirstBatch(exchange: WriteExchange, oracle: Oracle) {
  const { node, startStep, startAt, endAt } = exchange;
  const time = Math.max(node.clockBetween(startAt, endAt).latest, endAt);
  const isKnown = usesOfOtherBatches(exchange, oracle).some(({ event, position, step }) =>
    step <= startStep && !oracle.lostPositions.has(position) &&
    time < Date.parse(event.time) + DAY_MS
  );
  if (isKnown) yield "The Idempotency-Key was used for another batch before";
}

/** The states that other batches with the Idempotency-Key of a batch have caused. */
function usesOfOtherBatches({ operation, key }: WriteExchange, oracle: Oracle): PetState[] {
  const { part } = operation;
  if (part === undefined || operation.idempotencyKey === undefined) return [];
  const own = Array.from({ length: part.count }, (_, index) => {
    return loggedKey({ ...operation, part: { ...part, index } }, key)!;
  });
  const shared = own[0].slice(0, SHARED_DIGITS);
  return oracle.pets.flat().filter(({ event: { actor, idempotencykey: logged = "" } }) =>
    actor === key.keyId && logged.startsWith(shared) && !own.includes(logged)
  );
}

/** Whether a pet was in that state, or removed, at some moment between the ends of two steps. */
export function isCurrent(state: PetState, startStep: number, endStep: number): boolean {
  return state.step <= endStep && state.endStep > startStep;
}

/** The name of the attempt that a request belongs to; `undefined` if nothing identifies it, as the second removal of a pet. */
function attemptOf(operation: WriteOperation): string | undefined {
  if (operation.kind === "create") return `create ${operation.name}`;
  if (operation.kind !== "update") return undefined;
  return attemptOfTag(operation.patch.categoryId);
}

function attemptOfEvent({ event: { type, data } }: PetState): string | undefined {
  if (type === "PetCreated") return `create ${data.name}`;
  if (type !== "PetUpdated") return undefined;
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
  if (operation.kind === "remove") return type === "PetRemoved" && operation.petId === id;
  if (operation.kind === "restore") return type === "PetRestored" && operation.petId === id;
  return type === "PetUpdated" && operation.petId === id && isPatched(operation.patch, data) &&
    Object.keys(data.previous).every((name) => name in operation.patch);
}

function isPatched(patch: UpdateOperation["patch"], pet: Record<string, unknown>): boolean {
  return Object.entries(patch).every(([name, value]) => (pet[name] ?? null) === value);
}

/** Whether nothing was stored for a request, as its response says. */
export function isRefused({ response }: Exchange): boolean {
  if (response === undefined || response.status < 400) return false;
  if (response.status < 500) return true;
  return NOTHING_STORED.includes(JSON.parse(response.body).code);
}

/** The name that the log gives to the Idempotency-Key of a request, or of its part. */
export function loggedKey(
  { idempotencyKey, part }: { idempotencyKey?: string; part?: Part },
  { token }: KeyInUse,
): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  const hashOf = (text: string) => createHmac("sha256", token).update(text).digest("hex");
  const hash = hashOf(idempotencyKey);
  if (part === undefined) return hash;
  const ofPart = hashOf(`${idempotencyKey}\n${part.batch}/${part.index}`);
  return hash.slice(0, SHARED_DIGITS) + ofPart.slice(SHARED_DIGITS);
}
