import { createHash } from "node:crypto";
import {
  type Exchange,
  type GetOperation,
  isOfCategory,
  isPetWrite,
  isWrite,
  type ListOperation,
  nextCursor,
} from "./history.ts";
import { type CommittedLine, feedIdOf, type Oracle, type PetState, shortened } from "./oracle.ts";
import { checkCategories, checkCategoryEvents } from "./category_checker.ts";
import {
  checkAttempts,
  checkOrder,
  checkWrite,
  isCurrent,
  isWriteExchange,
} from "./write_checker.ts";

/**
 * Maximum time to a response, in milliseconds.
 * - A read takes two reads of the head (the one in flight and the next), one of the key, one of the lines that prove it,
 *   and one of the pets, each up to 2 seconds. A list takes another read of the head, and a second for further attempts.
 * - A write takes two reads of the head, one of the key, one of its lines, and 3.5 seconds for the outcome.
 * - With an Idempotency-Key, it may also share the outcome of an earlier request, which takes another
 *   3.5 seconds, and ends with a read.
 */
const READ_LIMIT_MS = 10_000 + 100;
const LIST_LIMIT_MS = READ_LIMIT_MS + 3_000;
const WRITE_LIMIT_MS = 11_500 + 100;
/** A request of the feed waits for events in addition, and a stream has a limit of its own. */
const STREAM_LIMIT_MS = 360_000 + 1_000 + READ_LIMIT_MS;
const IDEMPOTENT_WRITE_LIMIT_MS = WRITE_LIMIT_MS + 3_500 + READ_LIMIT_MS;

/** Checks every exchange against what the store really held, by the promises alone. Returns the broken ones. */
export function checkExchanges(exchanges: readonly Exchange[], oracle: Oracle): string[] {
  const keys = keyLifetimes(oracle);
  const violations = exchanges.flatMap((exchange) => {
    const { operation, response, startStep, endStep, node, key } = exchange;
    return [...check(exchange, oracle, keys)].map((violation) =>
      `${violation}: ${
        shortened(JSON.stringify(operation))
      }, key ${key.keyId}, node ${node.name}, ` +
      `steps ${startStep} to ${endStep}, response ${response?.status} ${
        shortened(response?.body ?? "")
      }`
    );
  });
  return [
    ...violations,
    ...checkAttempts(exchanges.filter(isWriteExchange), oracle),
    ...checkOrder(exchanges.filter(isWriteExchange), oracle),
    ...checkCategoryEvents(exchanges, oracle),
  ];
}

function* check(exchange: Exchange, oracle: Oracle, keys: Map<string, KeyLifetime>) {
  const { operation, response, isFaultFree } = exchange;
  yield* checkTime(exchange);
  if (response === undefined) return;
  const { status } = response;
  if (status === 500 || status === 503 && isFaultFree) yield "The request failed without faults";
  // A service that cannot read the store cannot check the key.
  if (status !== 503) yield* checkCredentials(exchange, keys.get(exchange.key.keyId));
  if (operation.kind === "list") yield* checkList(exchange, operation, oracle);
  else if (operation.kind === "get") yield* checkGet(exchange, operation, oracle);
  if (isOfCategory(operation)) {
    yield* checkCategories(exchange, operation, oracle);
    return;
  }
  if (operation.kind !== "list" && status === 404) yield* checkNotFound(exchange, oracle);
  if (isWriteExchange(exchange)) yield* checkWrite(exchange, oracle);
}

function* checkTime({ operation, node, startAt, endAt }: Exchange) {
  const writes = isPetWrite(operation) ? operation.part?.count ?? 1 : 1;
  const limit = operation.kind === "events"
    ? operation.isStream ? STREAM_LIMIT_MS : 2 * READ_LIMIT_MS + (operation.timeout ?? 0)
    : operation.kind === "list"
    ? LIST_LIMIT_MS
    : !isWrite(operation)
    ? READ_LIMIT_MS
    : operation.idempotencyKey === undefined
    ? writes * WRITE_LIMIT_MS
    : writes * IDEMPOTENT_WRITE_LIMIT_MS;
  const took = endAt - startAt - node.pausedBetween(startAt, endAt);
  if (took > limit) yield `The request took ${took.toFixed(0)} ms, more than ${limit}`;
}

/** The service must accept a key that was valid throughout the request, and refuse one that never was. */
function* checkCredentials(exchange: Exchange, lifetime: KeyLifetime | undefined) {
  const { key, node, startAt, endAt, startStep, endStep, operation } = exchange;
  const { status } = exchange.response!;
  const { issued, ends = [] } = lifetime ?? {};
  const { earliest, latest } = node.clockBetween(startAt, endAt);
  // The node may also have computed the end of a cached key by its clock when it read the key.
  const latestComputed = Math.max(latest, Math.ceil(endAt + node.mostAhead(endAt)));
  // An immediate end applies from its commit, whatever the clocks show. A later end applies by the node's clock.
  const hasEnded = ends.some(({ from = -Infinity, step }) => step <= startStep && earliest >= from);
  const mayHaveEnded = ends.some(({ from = -Infinity, step }) =>
    step <= endStep && latestComputed >= from
  );
  const mayBeValid = issued !== undefined && issued.step <= endStep && !hasEnded;
  const mustBeValid = issued !== undefined && issued.step <= startStep && !mayHaveEnded;
  if (status === 401 && mustBeValid) yield "A valid key was refused";
  if (status !== 401 && !mayBeValid) yield "An invalid key was accepted";
  const mustBeForbidden = isWrite(operation) && key.isReadOnly;
  if (status !== 401 && (status === 403) !== mustBeForbidden) {
    yield "A key that may only read was not told from others";
  }
}

/** A list is correct if it names a head of the store during the request, and is exactly the page of that head. */
function* checkList(exchange: Exchange, operation: ListOperation, oracle: Oracle) {
  const content = contentOf(exchange);
  if (content === undefined) return;
  const { headers } = exchange.response!;
  const id = headers.get("x-feed-position") ?? "";
  const position = parseInt(id);
  const heads = oracle.headsBetween(exchange.startStep, exchange.endStep);
  if (!heads.includes(position) || id !== feedIdOf(oracle.lines[position - 1] ?? { position })) {
    yield `The list names ${id}, which is none of the heads ${heads[0]} to ${heads.at(-1)}`;
  }
  const next = nextCursor(content.link);
  if (operation.name !== undefined) {
    yield* checkSearch(content.body, next, operation, oracle, {
      from: position,
      to: heads.at(-1)!,
    });
    return;
  }
  const page = operation.removed
    ? removedPageOf(oracle, position, operation)
    : pageOf(oracle, position, operation);
  if (content.body !== page.body || next !== page.next) {
    yield `The store did not hold this page (cursor ${next}) at ${position}`;
  }
  const total = headers.get("x-total-count") ?? undefined;
  if (total !== page.total?.toString()) yield `The total is ${total}, not ${page.total}`;
}

/**
 * A page of a search is read in parts, each as of one of the heads from the one that it names on. So it shows a pet as it
 * was at one of these heads, and leaves out only a pet that was not there or did not match at one of them.
 */
function* checkSearch(
  body: string,
  next: number | undefined,
  operation: ListOperation,
  oracle: Oracle,
  { from, to }: { from: number; to: number },
) {
  const { limit = 20, cursor, order } = operation;
  const isAscending = order === "asc";
  const shown: { id: number }[] = JSON.parse(body);
  const ids = shown.map(({ id }) => id);
  const inOrder = ids.toSorted((one, other) => isAscending ? one - other : other - one);
  if (ids.join() !== inOrder.join() || ids.length > limit) yield "The search has another order";
  for (const index of oracle.pets.keys()) {
    const id = index + 1;
    const isInPage = isAscending
      ? id > (cursor ?? 0) && id <= (next ?? Infinity)
      : id < (cursor ?? Infinity) && id >= (next ?? 1);
    const isShown = ids.includes(id);
    const text = isShown ? textOfPet(shown, id) : undefined;
    const states = oracle.statesBetween(id, from, to);
    const texts = states.map((state) =>
      isInPage && state !== undefined && matches(state, operation) ? state.petText : undefined
    );
    if (!texts.includes(text)) {
      yield `The search shows pet ${id} as ${text}, not as one of ${texts}`;
    }
  }
}

function* checkGet(exchange: Exchange, { petId }: GetOperation, oracle: Oracle) {
  const { startStep, endStep } = exchange;
  const body = contentOf(exchange)?.body;
  const wasHeld = oracle.pets[petId - 1]?.some((state) =>
    !state.isRemoved && state.petText === body && isCurrent(state, startStep, endStep)
  );
  if (body !== undefined && !wasHeld) yield "The pet does not match the log";
}

/** A pet is not found if it was removed at some moment of the request, but its restore finds it. */
function* checkNotFound({ operation, startStep, endStep }: Exchange, oracle: Oracle) {
  const states = oracle.pets[(operation as GetOperation).petId - 1] ?? [];
  const wasAdded = states[0]?.step <= startStep;
  const wasRemoved = operation.kind !== "restore" &&
    states.some((state) => state.isRemoved && isCurrent(state, startStep, endStep));
  if (wasAdded && !wasRemoved) yield "The pet was added before but not found";
}

/** The content that a client has after a response: the body of a 200 or 201, or after a 304 the cached content. */
export function contentOf({ response, operation }: Exchange) {
  const { status, body, headers } = response!;
  if (status === 200 || status === 201) return { body, link: headers.get("link") };
  return status === 304 ? operation.cached : undefined;
}

interface KeyLifetime {
  issued: CommittedLine;
  /** Ends of the key, each from a clock time, or from its commit if `from` is absent. */
  ends: { from?: number; step: number }[];
}

function keyLifetimes({ lines }: Oracle): Map<string, KeyLifetime> {
  const lifetimes = new Map<string, KeyLifetime>();
  for (const line of lines) {
    const { event: { type, data, time }, step } = line;
    if (type === "ApiKeyIssued") {
      const lifetime: KeyLifetime = { issued: line, ends: [] };
      if (data.expiresAt !== undefined) {
        lifetime.ends.push({ from: Date.parse(data.expiresAt), step });
      }
      lifetimes.set(data.keyId, lifetime);
    } else if (type === "ApiKeyRevoked") {
      const isAtOnce = Date.parse(data.effectiveAt) <= Date.parse(time);
      const from = isAtOnce ? undefined : Date.parse(data.effectiveAt);
      lifetimes.get(data.keyId)?.ends.push({ from, step });
    }
  }
  return lifetimes;
}

/** The text of a pet on a page, in the form of the log: the body is an array of such texts. */
function textOfPet(shown: readonly { id: number }[], id: number): string {
  return JSON.stringify(shown.find((pet) => pet.id === id));
}

function matches({ id, event: { data } }: PetState, operation: ListOperation): boolean {
  const { ids, status, categoryId, name } = operation;
  return (status ?? data.status) === data.status &&
    (categoryId ?? data.categoryId) === data.categoryId && (ids?.includes(id) ?? true) &&
    data.name.includes(name ?? "");
}

function removedPageOf(oracle: Oracle, position: number, operation: ListOperation) {
  const { limit = 20, cursor = Infinity } = operation;
  const removed = oracle.removedAt(position);
  const after = removed.filter((state) => state.position < cursor);
  const shown = after.slice(0, limit);
  const next = after.length > limit ? shown.at(-1)!.position : undefined;
  const texts = shown.map(({ petText, event: { time } }) => {
    const tag = createHash("sha256").update(petText).digest("hex").slice(0, 32);
    return `${petText.slice(0, -1)},"removedAt":"${time}","etag":"\\"${tag}\\""}`;
  });
  return { body: `[${texts.join(",")}]`, next, total: removed.length };
}

function pageOf(oracle: Oracle, position: number, operation: ListOperation) {
  const { ids, limit = ids?.length ?? 20, categoryId, cursor, order } = operation;
  const isAscending = order === "asc";
  const oldestFirst = oracle.pets.map((_, index) => oracle.stateAt(index + 1, position))
    .filter((pet) => pet !== undefined)
    .filter((pet) => matches(pet, operation));
  const pets = isAscending ? oldestFirst : oldestFirst.toReversed();
  const after = pets.filter(({ id }) =>
    isAscending ? id > (cursor ?? 0) : id < (cursor ?? Infinity)
  );
  const shown = after.slice(0, limit);
  const next = after.length > limit ? shown.at(-1)!.id : undefined;
  // The pets of a category are not counted, but some pages have all of them.
  const isCounted = categoryId === undefined || next === undefined && cursor === undefined;
  const body = `[${shown.map(({ petText }) => petText).join(",")}]`;
  return { body, next, total: isCounted ? pets.length : undefined };
}
