/** Checks every exchange by the promises of the interface alone, against what the store really held. */

import { type Exchange, isWrite, type Operation } from "./history.ts";
import { type CommittedLine, type Oracle, shortened } from "./oracle.ts";
import { checkList } from "./page_checker.ts";
import {
  checkCauses,
  checkOrder,
  checkWrite,
  isWriteExchange,
  statesDuring,
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

/** Checks an exchange that has ended against what the store held until then. Returns the broken promises. */
export function checkExchange(exchange: Exchange, oracle: Oracle): string[] {
  const { operation, response, startStep, endStep, node, key } = exchange;
  return [...check(exchange, oracle)].map((violation) =>
    `${violation}: ${shortened(JSON.stringify(operation))}, key ${key.keyId}, node ${node.name}, ` +
    `steps ${startStep} to ${endStep}, response ${response?.status} ${
      shortened(response?.body ?? "")
    }`
  );
}

/** Checks what only the whole log shows. Returns the broken promises. */
export function checkLog(exchanges: readonly Exchange[], oracle: Oracle): string[] {
  const writes = exchanges.filter(isWriteExchange);
  return [...checkCauses(writes, oracle), ...checkOrder(writes, oracle)];
}

function* check(exchange: Exchange, oracle: Oracle): Iterable<string> {
  const { operation, response, isFaultFree } = exchange;
  yield* checkTime(exchange);
  if (response === undefined) return;
  const { status } = response;
  if (status === 500 || status === 503 && isFaultFree) yield "The request failed without faults";
  // A service that cannot read the store cannot check the key.
  if (status !== 503) yield* checkCredentials(exchange, oracle);
  if (isWriteExchange(exchange)) yield* checkWrite(exchange, oracle);
  const content = contentOf(exchange);
  switch (operation.kind) {
    case "list":
    case "listCategories":
      if (content !== undefined) yield* checkList(exchange, operation, content, oracle);
      break;
    case "get":
    case "getCategory":
      if (content !== undefined || status === 404) {
        yield* checkGet(exchange, content?.body, oracle);
      }
      break;
  }
}

function* checkTime({ operation, node, startAt, endAt }: Exchange): Iterable<string> {
  const limit = timeLimitOf(operation);
  const took = endAt - startAt - node.pausedBetween(startAt, endAt);
  if (took > limit) yield `The request took ${took.toFixed(0)} ms, more than ${limit}`;
}

function timeLimitOf(operation: Operation): number {
  if (operation.kind === "events") {
    const batchLimit = 2 * READ_LIMIT_MS + (operation.timeout ?? 0);
    return operation.isStream ? STREAM_LIMIT_MS : batchLimit;
  }
  if (operation.kind === "list") return LIST_LIMIT_MS;
  if (!isWrite(operation)) return READ_LIMIT_MS;
  const { idempotencyKey, part } = operation;
  const limit = idempotencyKey === undefined ? WRITE_LIMIT_MS : IDEMPOTENT_WRITE_LIMIT_MS;
  return (part?.count ?? 1) * limit;
}

/** The service must accept a key that was valid throughout the request, and refuse one that never was. */
function* checkCredentials(exchange: Exchange, oracle: Oracle): Iterable<string> {
  const { key, node, startAt, endAt, startStep, endStep, operation } = exchange;
  const { status } = exchange.response!;
  const { issued, ends } = lifetimeOf(key.keyId, oracle);
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

/** A single read is correct if it shows a state from during the request, or that there was none. */
function* checkGet(
  exchange: Exchange,
  shown: string | undefined,
  oracle: Oracle,
): Iterable<string> {
  const states = statesDuring(exchange, oracle);
  const texts = states.map((state) => state?.isRemoved ? undefined : state?.shown);
  if (!texts.includes(shown)) yield `The log has ${texts}`;
}

/** The content that a client has after a response: the body of a 200 or 201, or after a 304 the cached content. */
function contentOf({ response, operation }: Exchange) {
  const { status, body, headers } = response!;
  if (status === 200 || status === 201) return { body, link: headers.get("link") };
  return status === 304 ? operation.cached : undefined;
}

interface KeyLifetime {
  /** Absent if the key was never issued. */
  issued?: CommittedLine;
  /** Ends of the key, each from a clock time, or from its commit if `from` is absent. */
  ends: { from?: number; step: number }[];
}

function lifetimeOf(keyId: string, { lines }: Oracle): KeyLifetime {
  const lifetime: KeyLifetime = { ends: [] };
  for (const line of lines) {
    const { event: { type, data, time }, step } = line;
    if (data.keyId !== keyId) continue;
    if (type === "ApiKeyIssued") {
      lifetime.issued = line;
      if (data.expiresAt === undefined) continue;
      lifetime.ends.push({ from: Date.parse(data.expiresAt), step });
    } else if (type === "ApiKeyRevoked") {
      const isAtOnce = Date.parse(data.effectiveAt) <= Date.parse(time);
      const from = isAtOnce ? undefined : Date.parse(data.effectiveAt);
      lifetime.ends.push({ from, step });
    }
  }
  return lifetime;
}
