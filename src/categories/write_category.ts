/** The commands of clients that name a category, or remove it. */

import { ServiceError } from "eventstore-less";
import type { Store } from "eventstore-less/store";
import type { RecordedEvent } from "../../events/all_events.ts";
import { type Category, encodeCategory } from "../../events/category.ts";
import { foldName } from "../encoding/fold_name.ts";
import {
  type DecidedBody,
  type Expectations,
  type WriteDeps,
  type WriteRequest,
  writeWithKey,
  type Written,
} from "../keys/write_with_key.ts";
import { CATEGORIES_COLLECTION } from "./category_counts.ts";
import {
  type Categories,
  type CategoryReader,
  type CategoryRecord,
  readRemoval,
} from "./category_reader.ts";

/** Maximum number of categories with names. */
export const CATEGORIES_LIMIT = 1_000;

export interface WriteCategoryDeps extends WriteDeps {
  categories: CategoryReader;
  store: Store;
}

export interface RemoveCategoryRequest extends WriteRequest, Expectations {
  id: bigint;
}

export interface NameCategoryRequest extends RemoveCategoryRequest {
  name: string;
}

/** The categories before a request. */
interface CategoriesBefore {
  byId: Categories["byId"];
  /** Position of the removal of the category of the request, if it was removed. */
  removedAt?: number;
}

/** The effect of a request on a category. Its functions depend only on their arguments. */
interface CategoryRule {
  id: bigint;
  /** The event of the request; `undefined` if nothing changes. Throws the refusal. */
  decide(before: CategoriesBefore): DecidedBody | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: RecordedEvent): boolean;
}

export interface NamedCategory {
  /** The JSON text of the category after the request. */
  text: string;
  /** Whether the category had no name before. */
  isNew: boolean;
  /** Whether an earlier request with the same Idempotency-Key named it. */
  isDuplicate: boolean;
}

/**
 * Appends nothing if the category has this name. Rejects as {@linkcode writeWithKey} and {@linkcode CollectionReader.proven},
 * or with `precondition_failed`, `category_name_taken` or `too_many_categories`.
 */
export async function nameCategory(
  deps: WriteCategoryDeps,
  request: NameCategoryRequest,
): Promise<NamedCategory> {
  const { id, name } = request;
  const text = encodeCategory({ id, name });
  const { event, isDuplicate } = await writeCategory(deps, request, namingRule(request));
  const isNew = event?.type === "CategoryNamed" && event.data.previous === undefined;
  return { text, isNew, isDuplicate };
}

export function namingRule(
  { id, name, ...expectations }: Omit<NameCategoryRequest, "token">,
): CategoryRule {
  return {
    id,
    decide({ byId, removedAt }) {
      const before = byId.get(id);
      expectCategory(before, expectations);
      if (before?.name === name) return undefined;
      expectFreeName({ id, name }, byId);
      if (before === undefined) {
        expectRoom(byId);
        return { type: "CategoryNamed", data: { id, name }, predecessor: removedAt };
      }
      const data = { id, name, previous: { name: before.name } };
      return { type: "CategoryNamed", data, predecessor: before.position };
    },
    isOutcome: ({ type, data }) => type === "CategoryNamed" && data.id === id && data.name === name,
  };
}

/** Rejects as {@linkcode nameCategory}, or with `category_not_found`. */
export async function removeCategory(
  deps: WriteCategoryDeps,
  request: RemoveCategoryRequest,
): Promise<{ isDuplicate: boolean }> {
  const { isDuplicate } = await writeCategory(deps, request, removalRule(request));
  return { isDuplicate };
}

export function removalRule(
  { id, ...expectations }: Omit<RemoveCategoryRequest, "token">,
): CategoryRule {
  return {
    id,
    decide({ byId }) {
      const before = byId.get(id);
      if (before === undefined) throw categoryNotFoundError();
      expectCategory(before, expectations);
      const { name, position: predecessor } = before;
      return { type: "CategoryRemoved", data: { id, name }, predecessor };
    },
    isOutcome: ({ type, data }) => type === "CategoryRemoved" && data.id === id,
  };
}

async function writeCategory(
  deps: WriteCategoryDeps,
  request: WriteRequest,
  { id, decide, isOutcome }: CategoryRule,
): Promise<Written<CategoriesBefore>> {
  const { categories, store } = deps;
  return await writeWithKey(deps, request, {
    // Each command of a category is decided on all names, and on how many there are.
    group: CATEGORIES_COLLECTION,
    async read({ head }): Promise<CategoriesBefore> {
      const { byId } = await categories.proven(head);
      return byId.has(id) ? { byId } : { byId, removedAt: await readRemoval(store, id, head) };
    },
    decide: (_head, before) => decide(before),
    isOutcome,
  });
}

/** Throws `precondition_failed` unless the category is what the client expects. */
function expectCategory(
  category: CategoryRecord | undefined,
  { isExpected, isExcluded }: Expectations,
): void {
  if (category === undefined) {
    if (isExpected === undefined) return;
    throw preconditionError("The category has no name, so it has no ETag");
  }
  if (isExpected !== undefined && !isExpected(category.text)) {
    throw preconditionError("The category has changed since you read it: read it again");
  }
  if (isExcluded?.(category.text)) {
    throw preconditionError("The category has a name already: read it first");
  }
}

function preconditionError(message: string): ServiceError {
  return new ServiceError("precondition_failed", message);
}

/** Throws if another category has the name, as foldName() compares them. */
function expectFreeName({ id, name }: Category, byId: Categories["byId"]): void {
  const foldedName = foldName(name);
  for (const other of byId.values()) {
    if (other.id === id || other.foldedName !== foldedName) continue;
    const message = `Category ${other.id} has this name, without regard to case`;
    throw new ServiceError("category_name_taken", message);
  }
}

function expectRoom({ size }: Categories["byId"]): void {
  if (size < CATEGORIES_LIMIT) return;
  const limit = CATEGORIES_LIMIT.toLocaleString("en");
  const message = `At most ${limit} categories have names: remove one of them first`;
  throw new ServiceError("too_many_categories", message);
}

export function categoryNotFoundError(): ServiceError {
  return new ServiceError("category_not_found", "A category with this identifier has no name");
}
