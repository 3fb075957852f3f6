/** Checks what clients got of categories against the names that the oracle saw. */

import {
  type CategoryOperation,
  type CategoryWrite,
  type Exchange,
  isCategoryWrite,
} from "./history.ts";
import {
  type CommittedLine,
  feedIdOf,
  isNameTaken,
  type Names,
  type Oracle,
  shortened,
} from "./oracle.ts";
import { isRefused, loggedKey } from "./write_checker.ts";

export function* checkCategories(
  exchange: Exchange,
  operation: CategoryOperation,
  oracle: Oracle,
): Iterable<string> {
  if (isCategoryWrite(operation)) yield* checkWrite(exchange, operation, oracle);
  else if (operation.kind === "listCategories") yield* checkList(exchange, oracle);
  else yield* checkGet(exchange, operation.categoryId!, oracle);
}

/** Each event of a category has a request of its key that may have caused it, and was not refused. */
export function* checkCategoryEvents(
  exchanges: readonly Exchange[],
  oracle: Oracle,
): Iterable<string> {
  const writes = exchanges.filter(({ operation }) => isCategoryWrite(operation));
  for (const line of oracle.lines) {
    if (!line.event.type.startsWith("Category")) continue;
    const isCaused = writes.some((exchange) => {
      return mayHaveCaused(exchange, line) && !isRefused(exchange) &&
        exchange.startStep < line.step;
    });
    if (!isCaused) yield `No request may have caused ${shortened(line.text)}`;
  }
}

/** The list is that of the head that it names, which the store had during the request. */
function* checkList({ operation, response, startStep, endStep }: Exchange, oracle: Oracle) {
  const { status, headers, body } = response!;
  if (status !== 200 && status !== 304) return;
  const id = headers.get("x-feed-position") ?? "";
  const position = parseInt(id);
  const heads = oracle.headsBetween(startStep, endStep);
  if (!heads.includes(position) || id !== feedIdOf(oracle.lines[position - 1] ?? { position })) {
    yield `The categories name ${id}, which is none of the heads ${heads[0]} to ${heads.at(-1)}`;
  }
  const names = oracle.names.findLast((it) => it.position <= position)!;
  const ids = [...names.byId.keys()].sort((one, other) => one - other);
  const right = `[${ids.map((it) => textOf(names, it)).join(",")}]`;
  const shown = status === 304 ? operation.cached!.body : body;
  if (shown !== right) yield `The categories were ${right} at ${position}`;
}

function* checkGet({ response, startStep, endStep }: Exchange, id: number, oracle: Oracle) {
  const { status, body } = response!;
  if (status !== 200 && status !== 404) return;
  const texts = namesBetween(oracle, startStep, endStep).map((names) => textOf(names, id));
  const shown = status === 404 ? undefined : body;
  if (!texts.includes(shown)) yield `The category was ${texts}`;
}

function* checkWrite(
  exchange: Exchange,
  operation: CategoryWrite,
  oracle: Oracle,
): Iterable<string> {
  const { response, startStep, endStep } = exchange;
  const { categoryId, name = "" } = operation;
  const { status, body } = response!;
  const during = namesBetween(oracle, startStep, endStep);
  const texts = during.map((names) => textOf(names, categoryId));
  if (status === 200 || status === 201 || status === 204) {
    yield* checkAcknowledged(exchange, operation, texts, oracle);
  } else if (status === 404) {
    if (!texts.includes(undefined)) yield "The category had a name all the time";
  } else if (status === 412) {
    const wasAnother = texts.some((text) => !isAsExpected(operation, text));
    if (!wasAnother) yield "The category was always the expected one";
  } else if (status === 409 && JSON.parse(body).code === "category_name_taken") {
    const wasTaken = during.some(({ byId }) => {
      const others = new Map(byId);
      others.delete(categoryId);
      return isNameTaken(others, name);
    });
    if (!wasTaken) yield "The name was free all the time";
  } else if (status === 409) yield "The Idempotency-Key was not sent with another request";
}

/** The event is in the log, or the category had the name, or an earlier request with the Idempotency-Key did it. */
function* checkAcknowledged(
  exchange: Exchange,
  operation: CategoryWrite,
  texts: readonly (string | undefined)[],
  oracle: Oracle,
) {
  const { key, response, startStep, endStep } = exchange;
  const { status, body } = response!;
  const { kind, categoryId, idempotencyKey } = operation;
  const text = JSON.stringify({ id: categoryId, name: operation.name });
  if (kind === "nameCategory" && body !== text) yield `The category is not ${text}`;
  const events = oracle.lines.filter((line) => {
    return line.step <= endStep && mayHaveCaused(exchange, line) &&
      line.event.idempotencykey === loggedKey(operation, key);
  });
  const isRight = ({ position, event }: CommittedLine) => {
    const before = oracle.names.findLast((it) => it.position < position)!;
    return isAsExpected(operation, textOf(before, categoryId)) &&
      (kind === "removeCategory" || (event.data.previous ? 200 : 201) === status);
  };
  const own = events.filter(({ step }) => step > startStep || idempotencyKey !== undefined);
  if (own.some(isRight)) return;
  const wasUnchanged = status === 200 && texts.includes(text) &&
    isAsExpected(operation, text);
  if (!wasUnchanged) yield "The write was acknowledged but is not in the log";
}

/** Whether the conditions of a request let it pass, given the category before it. Without a name, that has no text. */
function isAsExpected(
  { ifMatch, ifNoneMatch, expected }: CategoryWrite,
  text: string | undefined,
): boolean {
  if (ifNoneMatch !== undefined) return text === undefined;
  if (ifMatch === undefined) return true;
  return text !== undefined && text === (expected ?? text);
}

/** The names at all heads that the store had during the steps. */
function namesBetween(oracle: Oracle, startStep: number, endStep: number): Names[] {
  const first = oracle.names.findLastIndex(({ step }) => step <= startStep);
  return oracle.names.filter(({ step }, index) => index >= first && step <= endStep);
}

function textOf({ byId }: Names, id: number): string | undefined {
  const name = byId.get(id);
  return name === undefined ? undefined : JSON.stringify({ id, name });
}

function mayHaveCaused({ operation, key }: Exchange, { event }: CommittedLine): boolean {
  const { kind, categoryId, name } = operation as CategoryWrite;
  const type = kind === "nameCategory" ? "CategoryNamed" : "CategoryRemoved";
  return event.type === type && event.data.id === categoryId && event.actor === key.keyId &&
    (name === undefined || event.data.name === name);
}
