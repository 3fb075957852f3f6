/** Checks lists and searches against the states that the oracle saw. */

import { createHash } from "node:crypto";
import {
  type CachedResponse,
  type CategoryListOperation,
  type Exchange,
  type ListOperation,
  nextCursor,
} from "./history.ts";
import { feedIdOf, type Oracle, type State } from "./oracle.ts";

interface Page {
  body: string;
  next?: number;
  /** Absent if the service does not count what is on it. */
  total?: number;
}

/** A list is correct if it names a head of the store during the request, and is exactly the page of that head. */
export function* checkList(
  { response, startStep, endStep }: Exchange,
  operation: ListOperation | CategoryListOperation,
  content: Pick<CachedResponse, "body" | "link">,
  oracle: Oracle,
): Iterable<string> {
  const { headers } = response!;
  const id = headers.get("x-feed-position") ?? "";
  const position = parseInt(id);
  const heads = oracle.headsBetween(startStep, endStep);
  if (!heads.includes(position) || id !== feedIdOf(oracle.lines[position - 1] ?? { position })) {
    yield `The list names ${id}, which is none of the heads ${heads[0]} to ${heads.at(-1)}`;
  }
  const next = nextCursor(content.link);
  if (operation.kind === "list" && operation.name !== undefined) {
    const during = { from: position, to: heads.at(-1)! };
    yield* checkSearch(content.body, next, operation, oracle, during);
    return;
  }
  const page = pageOf(operation, oracle, position);
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
  for (const { id } of oracle.statesAt("pet", Infinity)) {
    const isInPage = isAscending
      ? id > (cursor ?? 0) && id <= (next ?? Infinity)
      : id < (cursor ?? Infinity) && id >= (next ?? 1);
    const isShown = ids.includes(id);
    const text = isShown ? textOfPet(shown, id) : undefined;
    const later = oracle.statesOf("pet", id).filter(({ position }) => position > from);
    const states = [
      oracle.stateAt("pet", id, from),
      ...later.filter(({ position }) => position <= to),
    ];
    const texts = states.map((state) =>
      isInPage && state !== undefined && matches(state, operation) ? state.shown : undefined
    );
    if (!texts.includes(text)) {
      yield `The search shows pet ${id} as ${text}, not as one of ${texts}`;
    }
  }
}

function pageOf(
  operation: ListOperation | CategoryListOperation,
  oracle: Oracle,
  position: number,
): Page {
  if (operation.kind === "listCategories") return pageOfCategories(oracle, position);
  if (operation.removed) return pageOfRemoved(oracle, position, operation);
  return pageOfPets(oracle, position, operation);
}

function pageOfCategories(oracle: Oracle, position: number): Page {
  return { body: bodyOf(oracle.presentAt("category", position)) };
}

function pageOfRemoved(oracle: Oracle, position: number, operation: ListOperation): Page {
  const { limit = 20, cursor = Infinity } = operation;
  const removed = oracle.removedAt(position);
  const after = removed.filter((state) => state.position < cursor);
  const page = after.slice(0, limit);
  const next = after.length > limit ? page.at(-1)!.position : undefined;
  const texts = page.map(({ shown, event: { time } }) => {
    const tag = createHash("sha256").update(shown).digest("hex").slice(0, 32);
    return `${shown.slice(0, -1)},"removedAt":"${time}","etag":"\\"${tag}\\""}`;
  });
  return { body: `[${texts.join(",")}]`, next, total: removed.length };
}

function pageOfPets(oracle: Oracle, position: number, operation: ListOperation): Page {
  const { ids, limit = ids?.length ?? 20, categoryId, cursor, order } = operation;
  const isAscending = order === "asc";
  const oldestFirst = oracle.statesAt("pet", position).filter((pet) => matches(pet, operation));
  const pets = isAscending ? oldestFirst : oldestFirst.toReversed();
  const after = pets.filter(({ id }) =>
    isAscending ? id > (cursor ?? 0) : id < (cursor ?? Infinity)
  );
  const shown = after.slice(0, limit);
  const next = after.length > limit ? shown.at(-1)!.id : undefined;
  // The pets of a category are not counted, but some pages have all of them.
  const isCounted = categoryId === undefined || next === undefined && cursor === undefined;
  return { body: bodyOf(shown), next, total: isCounted ? pets.length : undefined };
}

function bodyOf(states: readonly State[]): string {
  return `[${states.map(({ shown }) => shown).join(",")}]`;
}

/** Whether a pet is there, and in the list. */
function matches({ id, isRemoved, event: { data } }: State, operation: ListOperation): boolean {
  const { ids, status, categoryId, name } = operation;
  return !isRemoved && (status ?? data.status) === data.status &&
    (categoryId ?? data.categoryId) === data.categoryId && (ids?.includes(id) ?? true) &&
    data.name.includes(name ?? "");
}

/** The text of a pet on a page, in the form of the log: the body is an array of such texts. */
function textOfPet(shown: readonly { id: number }[], id: number): string {
  return JSON.stringify(shown.find((pet) => pet.id === id));
}
