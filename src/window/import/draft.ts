/** A file that the reader has chosen, and how it is to be read. */

import type { Pet } from "../../../events/pet.ts";
import type { Workbook } from "../csv/read_workbook.ts";
import { type Columns, guessColumns, missingColumns, type Target } from "./columns.ts";
import { NO_MEANINGS } from "./meanings.ts";
import { type Plan, planAdditions, planChanges, type Reading } from "./plan.ts";
import { readTable, type Table, tableOfWorkbook } from "./table.ts";

export type FileBytes = Uint8Array<ArrayBuffer>;

export interface Draft extends Reading {
  fileName: string;
  bytes: FileBytes;
  /** Whether rows with an identifier change the animal that has it. Otherwise all rows add one. */
  isOfChanges: boolean;
}

/** Reads a CSV file, with a guess at its encoding and its columns. Throws an error for people. */
export function draftOf(fileName: string, bytes: FileBytes): Draft {
  return draftOfTable(fileName, bytes, readTable(bytes));
}

/** The draft of a sheet of a workbook, with a guess at its columns. Throws an error for people. */
export function draftOfWorkbook(fileName: string, bytes: FileBytes, workbook: Workbook): Draft {
  return draftOfTable(fileName, bytes, tableOfWorkbook(workbook));
}

function draftOfTable(fileName: string, bytes: FileBytes, table: Table): Draft {
  const columns = guessColumns(table.titles);
  const isOfChanges = columns.id !== undefined;
  return { fileName, bytes, table, columns, meanings: NO_MEANINGS, isOfChanges };
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

/** The draft with what a word means: the text of a choice, or nothing, so that its lines are left out. */
export function withMeaning(draft: Draft, key: string, text: string | undefined): Draft {
  const meanings = new Map(draft.meanings);
  if (text === undefined) meanings.delete(key);
  else meanings.set(key, text);
  return { ...draft, meanings };
}

/**
 * The plan of the draft; `undefined` while it lacks a column, or as long as the animals that it changes are not read.
 * `pets` has those that exist.
 */
export function planOf(draft: Draft, pets: ReadonlyMap<number, Pet> | undefined): Plan | undefined {
  if (draft.isOfChanges) return pets && planChanges(draft, pets);
  if (missingColumns(draft.columns).length > 0) return undefined;
  return planAdditions(draft);
}
