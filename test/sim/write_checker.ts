/** Checks writes, of pets and of categories, against the states that the oracle saw. */

import { createHmac } from "node:crypto";
import {
  type Exchange,
  FIRST_TAG,
  isWrite,
  type KeyInUse,
  type NameOperation,
  NOTHING_STORED,
  type Operation,
  type Part,
  subjectOf,
  type Target,
  type UpdateOperation,
  type WriteOperation,
} from "./history.ts";
import { hasName, type Oracle, shortened, type State } from "./oracle.ts";

export type WriteExchange = Exchange & { operation: WriteOperation };

/** The type of the event that a write causes. */
const EVENT_TYPES: Record<WriteOperation["kind"], string> = {
  create: "PetCreated",
  update: "PetUpdated",
  remove: "PetRemoved",
  restore: "PetRestored",
  nameCategory: "CategoryNamed",
  removeCategory: "CategoryRemoved",
};

/** Number of digits that the names of the parts of one Idempotency-Key share. */
const SHARED_DIGITS = 32;

const DAY_MS = 24 * 60 * 60 * 1_000;

export function isWriteExchange(exchange: Exchange): exchange is WriteExchange {
  return isWrite(exchange.operation);
}

/**
 * Some request that was not refused caused each event. Without an Idempotency-Key, an attempt causes one event at most, and
 * each removal or restore that was acknowledged an event of its own.
 */
export function* checkCauses(writes: WriteExchange[], oracle: Oracle): Iterable<string> {
  const attempts = Map.groupBy(writes, ({ operation }) => attemptOf(operation));
  for (const [name, events] of Map.groupBy(oracle.states, attemptOfEvent)) {
    // A tagged request that is repeated after a day may change only something else.
    const candidates = name === undefined ? writes : attempts.get(name) ?? [];
    const mayBeRepeated = name === undefined || candidates[0]?.operation.idempotencyKey;
    if (events.length > 1 && !mayBeRepeated) yield `${name} caused ${events.length} events`;
    for (const event of events) {
      const isCaused = candidates.some((it) =>
        it.startStep < event.step && mayHaveCaused(it, event) && !isRefused(it)
      );
      if (isCaused) continue;
      yield `Each request for it was refused, or there was none: ${shortened(event.text)}`;
    }
  }
  yield* checkEachRemoval(writes, oracle);
}

function* checkEachRemoval(writes: WriteExchange[], oracle: Oracle): Iterable<string> {
  const acknowledged = writes.filter(({ operation: { kind, idempotencyKey }, response }) =>
    ["remove", "restore", "removeCategory"].includes(kind) && idempotencyKey === undefined &&
    [200, 204].includes(response?.status ?? 0)
  );
  const same = Map.groupBy(acknowledged, ({ operation }) => {
    return `${operation.kind} ${(operation as Target).id}`;
  });
  for (const [name, requests] of same) {
    const [{ operation }] = requests;
    const events = statesOfTarget(oracle, operation).filter(({ event }) => {
      return event.type === EVENT_TYPES[operation.kind];
    });
    if (requests.length > events.length) {
      yield `${name} was acknowledged ${requests.length} times, but is ${events.length} times in the log`;
    }
  }
}

/** The writes of a batch are in the log in their order. If it is sent again, what had changed nothing may be stored last. */
export function* checkOrder(writes: WriteExchange[], oracle: Oracle): Iterable<string> {
  const sent = Map.groupBy(writes, ({ operation, key }) => loggedKey(operation, key));
  const logged = oracle.states.flatMap(({ event: { idempotencykey } }) => {
    const [first, again] = sent.get(idempotencykey) ?? [];
    const part = again === undefined ? first?.operation.part : undefined;
    if (idempotencykey === undefined || part === undefined) return [];
    return [{ sender: idempotencykey.slice(0, SHARED_DIGITS), index: part.index }];
  });
  for (const ofBatch of Map.groupBy(logged, ({ sender }) => sender).values()) {
    const indexes = ofBatch.map(({ index }) => index);
    const sorted = indexes.toSorted((one, other) => one - other);
    if (indexes.join() !== sorted.join()) yield `The writes of a batch have the order ${indexes}`;
  }
}

/** Checks what the response says about the events that the request caused. */
export function* checkWrite(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { response } = exchange;
  const status = response?.status ?? 0;
  if ([200, 201, 204].includes(status)) {
    yield* checkFirstBatch(exchange, oracle);
    yield* checkAcknowledged(exchange, oracle);
    return;
  }
  if (![404, 409, 412].includes(status)) return;
  const { code } = JSON.parse(response!.body);
  if (code === "idempotency_key_reused") yield* checkReused(exchange, oracle);
  else if (code === "category_name_taken") yield* checkNameTaken(exchange, oracle);
  else yield* checkRefused(exchange, oracle);
  if (code !== "idempotency_key_reused") yield* checkNotRepeated(exchange, oracle);
}

/**
 * A write that was acknowledged is in the log: a pet as it was sent, or the change or removal of what was expected. Or
 * there was nothing to change, or an earlier request with the Idempotency-Key did it.
 */
function* checkAcknowledged(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, response, key, node, startStep, startAt, endStep, endAt } = exchange;
  const { status, body } = response!;
  const id = operation.kind === "create" ? JSON.parse(body).id : operation.id;
  const logged = loggedKey(operation, key);
  const events = oracle.statesOf(subjectOf(operation), id).filter((state) =>
    state.step <= endStep && mayHaveCaused(exchange, state) && status === statusOf(state) &&
    (status === 204 || state.shown === body) &&
    state.event.idempotencykey === logged
  );
  const isExpected = ({ before }: State) => refusalOf(operation, before) === undefined;
  // Another request may have changed it to the same state, even in the same commit.
  const own = events.filter(({ step }) => step > startStep);
  if (own.some(isExpected)) return;
  const wasUnchanged = statesDuring(exchange, oracle).some((state) =>
    state !== undefined && state.shown === body && refusalOf(operation, state) === undefined &&
    changesNothing(operation, state)
  );
  if (status === 200 && wasUnchanged) return;
  const event = own.at(-1) ?? (operation.idempotencyKey && events.at(-1));
  if (!event) return yield "The write was acknowledged but is not in the log";
  if (!isExpected(event)) yield "What changed was not what was expected";
  const { earliest } = node.clockBetween(startAt, endAt);
  if (event.step <= startStep && earliest >= Date.parse(event.event.time) + DAY_MS) {
    yield "The Idempotency-Key was used after its expiry";
  }
}

/** A write is refused only if it met a state that refuses it. */
function* checkRefused(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, response } = exchange;
  const { status, body } = response!;
  if (JSON.parse(body).code === "pet_erased") yield "Nothing was erased";
  const states = statesDuring(exchange, oracle);
  if (states.some((state) => refusalOf(operation, state) === status)) return;
  yield "No state during the request refuses it";
}

/** A name is taken only if another category has it. */
function* checkNameTaken(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, startStep, endStep } = exchange;
  const { id, name } = operation as NameOperation;
  const wasTaken = oracle.states.some((state) =>
    state.subject === "category" && state.id !== id && !state.isRemoved && hasName(state, name) &&
    isCurrent(state, startStep, endStep)
  );
  if (!wasTaken) yield "The name was free all the time";
}

/** A request that is repeated within a day is acknowledged, although it would be refused since. */
function* checkNotRepeated(exchange: WriteExchange, oracle: Oracle): Iterable<string> {
  const { operation, key, node, startStep, startAt, endAt } = exchange;
  const logged = loggedKey(operation, key);
  const { latest } = node.clockBetween(startAt, endAt);
  // A record that is over by the true time may be gone, although it is still valid by a clock that is far behind.
  const time = Math.max(latest, endAt);
  const isRepeated = logged !== undefined &&
    oracle.states.some((state) =>
      state.event.idempotencykey === logged && state.step <= startStep &&
      !oracle.lostPositions.has(state.position) &&
      time < Date.parse(state.event.time) + DAY_MS
    );
  if (isRepeated) yield "The Idempotency-Key was used before, but the request was refused";
}

function* checkReused(exchange: WriteExchange, oracle: Oracle) {
  const { operation, key, endStep } = exchange;
  const logged = loggedKey(operation, key);
  const wasUsed = logged !== undefined &&
    oracle.states.some((state) =>
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
function usesOfOtherBatches({ operation, key }: WriteExchange, oracle: Oracle): State[] {
  const { part } = operation;
  if (part === undefined || operation.idempotencyKey === undefined) return [];
  const own = Array.from({ length: part.count }, (_, index) => {
    return loggedKey({ ...operation, part: { ...part, index } }, key)!;
  });
  const shared = own[0].slice(0, SHARED_DIGITS);
  return oracle.states.filter(({ event: { actor, idempotencykey: logged = "" } }) =>
    actor === key.keyId && logged.startsWith(shared) && !own.includes(logged)
  );
}

/** The states of what a request is for. */
function statesOfTarget(oracle: Oracle, operation: Operation): readonly State[] {
  return "id" in operation ? oracle.statesOf(subjectOf(operation), operation.id) : [];
}

/** The states of what a request is for that it may have met; `undefined` before the first. */
export function statesDuring(
  { operation, startStep, endStep }: Exchange,
  oracle: Oracle,
): (State | undefined)[] {
  const states = statesOfTarget(oracle, operation);
  const current = states.filter((state) => isCurrent(state, startStep, endStep));
  const wasAdded = states.length > 0 && states[0].step <= startStep;
  return wasAdded ? current : [undefined, ...current];
}

/** Whether a state lasted at some moment between the ends of two steps. */
function isCurrent(state: State, startStep: number, endStep: number): boolean {
  return state.step <= endStep && state.endStep > startStep;
}

/** The status that refuses a write if it finds that state of its subject; `undefined` if it is not refused. */
function refusalOf(operation: WriteOperation, state: State | undefined): number | undefined {
  const { kind } = operation;
  if (kind === "create") return undefined;
  const isThere = state !== undefined && !state.isRemoved;
  if (kind === "restore") {
    if (state === undefined) return 404;
    if (isThere) return 409;
  } else if (kind !== "nameCategory" && !isThere) {
    return 404;
  }
  const isFound = isThere || kind === "restore";
  const text = isFound ? state!.shown : undefined;
  return meetsConditions(operation, text) ? undefined : 412;
}

function meetsConditions(
  { ifMatch, expected, ifNoneMatch }: Target,
  text: string | undefined,
): boolean {
  if (ifNoneMatch !== undefined) return text === undefined;
  if (ifMatch === undefined) return true;
  return text !== undefined && text === (expected ?? text);
}

function changesNothing(
  operation: WriteOperation,
  { isRemoved, event: { data } }: State,
): boolean {
  if (isRemoved) return false;
  if (operation.kind === "nameCategory") return operation.name === data.name;
  return operation.kind === "update" && isPatched(operation.patch, data);
}

/** The status that acknowledges an event. */
function statusOf({ isRemoved, event: { type, data } }: State): number {
  if (isRemoved) return 204;
  const isNew = type === "PetCreated" || type === "CategoryNamed" && data.previous === undefined;
  return isNew ? 201 : 200;
}

/** The name of the attempt that a request belongs to; `undefined` if nothing identifies it, as the second removal of a pet. */
function attemptOf(operation: WriteOperation): string | undefined {
  if (operation.kind === "create") return `create ${operation.name}`;
  if (operation.kind !== "update") return undefined;
  return attemptOfTag(operation.patch.categoryId);
}

function attemptOfEvent({ event: { type, data } }: State): string | undefined {
  if (type === "PetCreated") return `create ${data.name}`;
  if (type !== "PetUpdated") return undefined;
  return "categoryId" in data.previous ? attemptOfTag(data.categoryId) : undefined;
}

function attemptOfTag(categoryId: number | undefined): string | undefined {
  return categoryId !== undefined && categoryId >= FIRST_TAG ? `update ${categoryId}` : undefined;
}

/** Whether an event is what the request asked for. */
function mayHaveCaused(
  { operation, key }: WriteExchange,
  { event: { type, actor, data }, id }: State,
): boolean {
  if (type !== EVENT_TYPES[operation.kind] || actor !== key.keyId) return false;
  if (operation.kind === "create") {
    return operation.name === data.name && operation.categoryId === data.categoryId &&
      operation.status === data.status;
  }
  if (operation.id !== id) return false;
  if (operation.kind === "nameCategory") return operation.name === data.name;
  if (operation.kind !== "update") return true;
  return isPatched(operation.patch, data) &&
    Object.keys(data.previous).every((name) => name in operation.patch);
}

function isPatched(patch: UpdateOperation["patch"], pet: Record<string, unknown>): boolean {
  return Object.entries(patch).every(([name, value]) => (pet[name] ?? null) === value);
}

/** Whether nothing was stored for a request, as its response says. */
function isRefused({ response }: Exchange): boolean {
  if (response === undefined || response.status < 400) return false;
  if (response.status < 500) return true;
  return NOTHING_STORED.includes(JSON.parse(response.body).code);
}

/** The name that the log gives to the Idempotency-Key of a request, or of its part. */
function loggedKey(
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
