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
import { type Category, idAboveKnown, type NamedCategory, nameOfCategory } from "./categories.ts";
import { categoriesQuery } from "./categories_query.ts";
import { holdPageWhile } from "./unsaved.ts";

/** The condition of a category that has no name. */
const IF_NO_NAME = { "if-none-match": "*" };

/** Names a category that has no name. Rejects if somebody has named it meanwhile. */
export async function nameCategory({ id, name }: NamedCategory): Promise<void> {
  await holdPageWhile(() => unlessOvertaken({ id }, () => putName(id, name, IF_NO_NAME)));
}

/** Names a category that has neither a name nor animals. Resolves to its id. */
export async function addUnusedCategory(name: string): Promise<bigint> {
  return await holdPageWhile(async () => {
    for (let id = idAboveKnown();; id++) {
      const isUsed = nameOfCategory(id) !== undefined || await hasAnimals(id);
      if (isUsed) continue;
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

export async function hasAnimals(id: bigint): Promise<boolean> {
  const { body } = await request<unknown[]>(`pets?categoryId=${id}&limit=1`);
  return body.length > 0;
}

/** Renames a category, unless somebody else has renamed it meanwhile. */
export async function renameCategory(shown: NamedCategory, name: string): Promise<void> {
  await unlessChanged(shown, (condition) => putName(shown.id, name, condition));
}

/** Removes the name of a category, unless somebody else has changed it meanwhile. No animal changes. */
export async function removeCategory(shown: NamedCategory): Promise<void> {
  await unlessChanged(shown, async (condition) => {
    await request(`categories/${shown.id}`, writeOptions("DELETE", undefined, condition));
    await categoriesQuery.refresh();
  });
}

async function putName(id: bigint, name: string, condition: Record<string, string>) {
  const options = writeOptions("PUT", undefined, condition);
  await request(`categories/${id}`, { ...options, body: JSON.stringify({ name }) });
  await categoriesQuery.refresh();
}

/** Changes the name of a category if it still is as the reader sees it. */
async function unlessChanged(
  shown: NamedCategory,
  action: (condition: Record<string, string>) => Promise<void>,
): Promise<void> {
  await holdPageWhile(async () => {
    const { name, etag } = await readName(shown.id);
    if (name !== shown.name) throw new Error(otherNameWords(shown, name));
    await unlessOvertaken(shown, () => action({ "if-match": etag! }));
  });
}

/** Carries out a change. If another client was faster, the error says what that has made of the category. */
async function unlessOvertaken(shown: Category, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw isOvertaken(error) ? await overtakenError(shown) : error;
  }
}

async function overtakenError(shown: Category): Promise<Error> {
  const { name } = await readName(shown.id);
  if (name !== shown.name) return new Error(otherNameWords(shown, name));
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

function otherNameWords({ id, name: before }: Category, name: string | undefined): string {
  if (name === undefined) return "Somebody else has removed this name";
  if (before === undefined) return `Category ${id} has the name ${name} already`;
  return `Somebody else has renamed it ${name}`;
}
