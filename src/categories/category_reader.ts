import type { Head } from "eventstore-less";
import { damagedError, decodeRecord, projectionKey, proveRecord } from "eventstore-less/parts";
import type { Store, StoreEntry } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import { type Category, encodeCategory } from "../../events/category.ts";
import {
  type CollectionReader,
  type ReadCollection,
  type SubjectRecord,
  type SubjectRecords,
} from "../api/collection_reader.ts";
import { foldName } from "../encoding/fold_name.ts";
import { parseCategoryId } from "./category_id.ts";
import { categoryCount, categoryPositionOf } from "./category_counts.ts";
import { CATEGORY_KIND, categoryKey, removedCategoryKey } from "./category_records.ts";

/** A category as the store has it. */
export interface CategoryRecord extends Category, SubjectRecord {
  id: bigint;
  /** The text by which the name is compared. */
  foldedName: string;
}

/** All categories with names. */
export type Categories = SubjectRecords<CategoryRecord>;

/** Reads all categories together. */
export type CategoryReader = CollectionReader<CategoryRecord>;

export const READ_CATEGORIES: ReadCollection<CategoryRecord> = {
  name: "categories",
  kind: CATEGORY_KIND,
  countAt: categoryCount,
  positionAt: categoryPositionOf,
  decode: categoryOf,
  follows: ({ id, name }, { type, data }) =>
    type === "CategoryNamed" && data.id === id && data.name === name,
  keyOf: ({ id }) => categoryKey(id),
};

/** Throws `projection_damaged`. */
function categoryOf(entry: StoreEntry): CategoryRecord {
  const { name, position } = decodeRecord(APPLICATION, entry);
  const id = parseCategoryId(entry.key.at(-1) as string);
  if (id === undefined) {
    throw damagedError(APPLICATION, entry.key, "has no identifier of a category");
  }
  const text = encodeCategory({ id, name });
  return { id, name, text, foldedName: foldName(name), position, isProven: false };
}

/** Position of the removal of a category without a name, proven by its line; `undefined` if it was never removed. */
export async function readRemoval(
  store: Store,
  id: bigint,
  { generation }: Head,
): Promise<number | undefined> {
  const entry = await store.get(projectionKey(generation, removedCategoryKey(id)));
  if (entry === null) return undefined;
  const { position } = decodeRecord(APPLICATION, entry);
  await proveRecord(APPLICATION, store, entry, position);
  return position;
}
