/** A file that the reader has chosen, and how it is to be read. */

import type { Pet } from "../../../events/pet.ts";
import { type Columns, guessColumns, missingColumns, type Target } from "./columns.ts";
import { type Plan, planAdditions, planChanges } from "./plan.ts";
import { readTable, type Table } from "./table.ts";

export interface Draft {
  fileName: string;
  bytes: Uint8Array;
  table: Table;
  columns: Columns;
  /** Whether rows with an identifier change the animal that has it. Otherwise all rows add one. */
  isOfChanges: boolean;
}

/** Reads a file, with a guess at its encoding and its columns. Throws an error for people. */
export function draftOf(fileName: string, bytes: Uint8Array): Draft {
  const table = readTable(bytes);
  const columns = guessColumns(table.titles);
  return { fileName, bytes, table, columns, isOfChanges: columns.id !== undefined };
}

/** The draft in another encoding. Its columns stay, because their order is the same. */
export function withEncoding(draft: Draft, encoding: string): Draft {
  return { ...draft, table: readTable(draft.bytes, encoding) };
}

/** The draft with another column for a field or the identifier; `undefined` means none. */
export function withColumn(draft: Draft, target: Target, index: number | undefined): Draft {
  // A column has one use.
  const others = Object.entries(draft.columns).filter(([, it]) => it !== index);
  const columns: Columns = { ...Object.fromEntries(others), [target]: index };
  if (index === undefined) delete columns[target];
  const hasIds = columns.id !== undefined;
  const isOfChanges = hasIds && (target === "id" || draft.isOfChanges);
  return { ...draft, columns, isOfChanges };
}

/**
 * The plan of the draft; `undefined` while it lacks a column, or as long as the animals that it changes are not read.
 * `pets` has those that exist.
 */
export function planOf(draft: Draft, pets: ReadonlyMap<number, Pet> | undefined): Plan | undefined {
  const { table, columns, isOfChanges } = draft;
  if (isOfChanges) return pets && planChanges(table, columns, pets);
  if (missingColumns(columns).length > 0) return undefined;
  return planAdditions(table, columns);
}
