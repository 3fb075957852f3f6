/** Changes the names of categories, unless somebody else has changed them meanwhile. */

import {
  etagOf,
  isOvertaken,
  NOT_FOUND,
  PRECONDITION_FAILED,
  request,
  ResponseError,
  writeOptions,
} from "./api.ts";
import { idAboveKnown, type NamedCategory } from "./categories.ts";
import { categoriesQuery } from "./categories_query.ts";
import { holdPageWhile } from "./unsaved.ts";

/** The condition of a category that has no name. */
const IF_NO_NAME = { "if-none-match": "*" };

/** Names a category that has no name. Rejects if somebody has named it meanwhile. */
export async function nameCategory({ id, name }: NamedCategory): Promise<void> {
  await unlessChanged(id, undefined, (condition) => putName(id, name, condition));
}

/** Names a category that has neither a name nor animals. Resolves to its id. */
export async function addUnusedCategory(name: string): Promise<bigint> {
  return await holdPageWhile(async () => {
    for (let id = idAboveKnown();; id++) {
      if (await isUsed(id)) continue;
      const isNamed = await putNameIfNone(id, name);
      if (isNamed) return id;
    }
  });
}

/** Names a category. Resolves to whether it had no name; otherwise, it keeps the one that somebody else has given. */
async function putNameIfNone(id: bigint, name: string): Promise<boolean> {
  try {
    await putName(id, name, IF_NO_NAME);
    return true;
  } catch (error) {
    const isNamed = error instanceof ResponseError && error.status === PRECONDITION_FAILED;
    if (isNamed) return false;
    throw error;
  }
}

/** Whether the category has a name or animals. */
async function isUsed(id: bigint): Promise<boolean> {
  const { name } = await readName(id);
  return name !== undefined || await hasAnimals(id);
}

async function hasAnimals(id: bigint): Promise<boolean> {
  const { body } = await request<unknown[]>(`pets?categoryId=${id}&limit=1`);
  return body.length > 0;
}

/** Renames a category, unless somebody else has renamed it meanwhile. */
export async function renameCategory(shown: NamedCategory, name: string): Promise<void> {
  await unlessChanged(shown.id, shown.name, (condition) => putName(shown.id, name, condition));
}

/** Removes the name of a category, unless somebody else has changed it meanwhile. No animal changes. */
export async function removeCategory(shown: NamedCategory): Promise<void> {
  await unlessChanged(shown.id, shown.name, async (condition) => {
    await request(`categories/${shown.id}`, writeOptions("DELETE", undefined, condition));
    await categoriesQuery.refresh();
  });
}

async function putName(id: bigint, name: string, condition: Record<string, string>) {
  const options = writeOptions("PUT", undefined, condition);
  await request(`categories/${id}`, { ...options, body: JSON.stringify({ name }) });
  await categoriesQuery.refresh();
}

/** Changes the name of a category if it still is `shown`, which is `undefined` for a category without a name. */
async function unlessChanged(
  id: bigint,
  shown: string | undefined,
  action: (condition: Record<string, string>) => Promise<void>,
): Promise<void> {
  await holdPageWhile(async () => {
    const { name, etag } = await readName(id);
    if (name !== shown) throw new Error(otherNameWords(id, shown, name));
    try {
      await action(etag === undefined ? IF_NO_NAME : { "if-match": etag });
    } catch (error) {
      throw isOvertaken(error) ? await overtakenError(id, shown) : error;
    }
  });
}

/** Resolves to the error that says what another client has just made of a category. */
async function overtakenError(id: bigint, shown: string | undefined): Promise<Error> {
  const { name } = await readName(id);
  if (name !== shown) return new Error(otherNameWords(id, shown, name));
  return new Error("Somebody else has just changed this name. Try again");
}

/** Resolves to the present name of a category, if it has one, and its ETag. */
async function readName(id: bigint): Promise<{ name?: string; etag?: string }> {
  try {
    const { body, headers } = await request<{ name: string }>(`categories/${id}`);
    return { name: body.name, etag: etagOf(headers) };
  } catch (error) {
    const isUnnamed = error instanceof ResponseError && error.status === NOT_FOUND;
    if (!isUnnamed) throw error;
    return {};
  }
}

function otherNameWords(id: bigint, shown: string | undefined, name: string | undefined): string {
  if (name === undefined) return "Somebody else has removed this name";
  if (shown === undefined) return `Category ${id} has the name ${name} already`;
  return `Somebody else has renamed it ${name}`;
}
