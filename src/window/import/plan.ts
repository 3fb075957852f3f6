/** The plan of an import: the animals that it adds or changes, and the lines that it leaves out. */

import type { NewPet, Pet } from "../../../events/pet.ts";
import type { CsvRow } from "../csv/parse_csv.ts";
import { isRoundedNumber } from "../csv/rounded_number.ts";
import { isSpreadsheetError } from "../csv/spreadsheet_error.ts";
import { isNewCategoryName } from "../data/categories.ts";
import {
  EDITABLE_FIELDS,
  type Faults,
  formatPet,
  parseChange,
  parsePet,
  type Patch,
  type Texts,
} from "../data/fields.ts";
import { seenText } from "../parts/seen_text.ts";
import { cellOf, type Columns } from "./columns.ts";
import { hashText } from "./hash_text.ts";
import { meaningOf, type Meanings } from "./meanings.ts";
import type { Table } from "./table.ts";

/** A row that adds an animal. */
export interface Addition {
  kind: "addition";
  row: CsvRow;
  pet: NewPet;
  /** How often the file adds the same before. */
  countBefore: number;
  /** Another text each time that the reader wants to add the same again; "" otherwise. */
  again: string;
}

/** A row that changes an animal, which is `before` when the plan is made. */
export interface Change {
  kind: "change";
  row: CsvRow;
  before: Pet;
  patch: Patch;
}

export type Entry = Addition | Change;

/** A row that is not imported. */
export interface LeftOut {
  row: CsvRow;
  fault: string;
  /** Whether its quotes or cells are wrong, so that nobody knows which of its lines are animals. */
  isBroken?: boolean;
  /** The category that the row needs and that the store does not have. */
  newCategory?: string;
  /** Whether the row needs nothing else. */
  needsOnlyCategory?: boolean;
}

/** How a file is read. */
export interface Reading {
  table: Table;
  columns: Columns;
  meanings: Meanings;
}

export interface Plan {
  entries: Entry[];
  leftOut: LeftOut[];
  /** Rows whose animals are there already, because an earlier import has added them. */
  present: Addition[];
  /** Number of rows whose animal already is as they say. */
  unchanged: number;
}

type Step = Entry | { kind: "faulty"; leftOut: LeftOut } | { kind: "unchanged" };

/** Every row adds an animal, also if it has an identifier. */
export function planAdditions(reading: Reading): Plan {
  const counts = new Counts();
  return planRows(reading.table, (row) => addition(row, reading, counts));
}

/** Rows with an identifier change the animal that has it; the others add one. `pets` has the animals that exist. */
export function planChanges(reading: Reading, pets: ReadonlyMap<number, Pet>): Plan {
  const counts = new Counts();
  const ids = new Set<number>();
  return planRows(reading.table, (row) => {
    const text = seenText(cellOf(row, reading.columns, "id") ?? "");
    if (text === "") return addition(row, reading, counts);
    if (isRoundedNumber(text)) {
      return faulty(row, `Id is a number that a spreadsheet has rounded: ${text}`);
    }
    const id = readId(text);
    if (id === undefined) return faulty(row, "Id must be a whole number");
    const pet = pets.get(id);
    if (pet === undefined) return faulty(row, "There is no animal with this id");
    if (ids.has(id)) return faulty(row, "An earlier line has the same id");
    ids.add(id);
    return change(row, reading, pet);
  });
}

/** Adds the animals of lines again, which an earlier import has added. `again` tells this time from others. */
export function planAgain(entries: readonly Entry[], again: string): Plan {
  const additions = entries.filter((it) => it.kind === "addition");
  return {
    entries: additions.map((it) => ({ ...it, again })),
    leftOut: [],
    present: [],
    unchanged: 0,
  };
}

/**
 * The Idempotency-Key of a row: what it adds, and how often the file adds the same before. So a corrected file adds only
 * what is missing, and a file with two animals alike adds both.
 */
export function idempotencyKeyOf({ pet, countBefore, again }: Addition): string {
  return `import-${hashText(seenPet(pet))}-${countBefore}-${again}`;
}

/** A text that is the same for animals that look alike. */
function seenPet(pet: NewPet): string {
  return formatPet({ ...pet, name: seenText(pet.name) });
}

/** The identifiers in the rows of a table, each once. */
export function idsIn(table: Table, columns: Columns): number[] {
  const ids = table.rows.map((row) => readId(seenText(cellOf(row, columns, "id") ?? "")));
  return [...new Set(ids.filter((id) => id !== undefined))].filter((id) => id > 0);
}

function planRows({ rows, titles }: Table, stepOf: (row: CsvRow) => Step): Plan {
  const plan: Plan = { entries: [], leftOut: [], present: [], unchanged: 0 };
  for (const row of rows) {
    const fault = faultOfRow(row, titles.length);
    const step: Step = fault === undefined
      ? stepOf(row)
      : { kind: "faulty", leftOut: { row, fault, isBroken: true } };
    switch (step.kind) {
      case "addition":
      case "change":
        plan.entries.push(step);
        break;
      case "faulty":
        plan.leftOut.push(step.leftOut);
        break;
      case "unchanged":
        plan.unchanged++;
        break;
    }
  }
  return plan;
}

function faultOfRow(
  { fault, openQuoteLine, cells, line, lastLine }: CsvRow,
  width: number,
): string | undefined {
  if (fault !== undefined) {
    return `${openQuoteLine === undefined ? "The line" : `Line ${openQuoteLine}`} ${fault}`;
  }
  const hasMore = cells.slice(width).some((cell) => cell.trim() !== "");
  if (hasMore) return "The line has more cells than the first line";
  // A stray quote may have made one row of several. Spreadsheets leave out only empty cells at the end.
  const isTooNarrow = lastLine > line && cells.length < width;
  return isTooNarrow ? "The line has fewer cells than the first line" : undefined;
}

function addition(row: CsvRow, reading: Reading, counts: Counts): Step {
  const texts = textsOfRow(row, reading);
  const error = spreadsheetErrorIn(texts);
  if (error !== undefined) return faulty(row, error);
  const parsed = parsePet(texts);
  if (!parsed.isSound) return faultyTexts(row, texts, parsed.faults);
  const { pet } = parsed;
  return { kind: "addition", row, pet, countBefore: counts.next(seenPet(pet)), again: "" };
}

function change(row: CsvRow, reading: Reading, before: Pet): Step {
  const texts = textsOfRow(row, reading);
  const error = spreadsheetErrorIn(texts);
  if (error !== undefined) return faulty(row, error);
  const parsed = parseChange(before, texts);
  if (!parsed.isSound) return faultyTexts(row, texts, parsed.faults);
  const { patch } = parsed;
  if (Object.keys(patch).length === 0) return { kind: "unchanged" };
  return { kind: "change", row, before, patch };
}

/** The texts of the fields that have a column. */
function textsOfRow(row: CsvRow, { columns, meanings }: Reading): Texts {
  const texts: Texts = {};
  for (const field of EDITABLE_FIELDS) {
    const text = cellOf(row, columns, field.name);
    if (text !== undefined) texts[field.name] = meaningOf(meanings, field, text);
  }
  return texts;
}

/** The fault of a cell that has an error of a spreadsheet instead of a value. */
function spreadsheetErrorIn(texts: Texts): string | undefined {
  const field = EDITABLE_FIELDS.find(({ name }) => isSpreadsheetError(texts[name] ?? ""));
  return field && `${field.label} is an error of the spreadsheet: ${texts[field.name]}`;
}

/** Programs that calculate write 7 as `7.0`. */
function readId(text: string): number | undefined {
  const [, digits] = /^(\d{1,16})(?:\.0+)?$/.exec(text) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}

function faulty(row: CsvRow, fault: string): Step {
  return { kind: "faulty", leftOut: { row, fault } };
}

function faultyTexts(row: CsvRow, { categoryId = "" }: Texts, faults: Faults): Step {
  const fault = Object.values(faults).join("; ");
  const needsCategory = faults.categoryId !== undefined && isNewCategoryName(categoryId);
  if (!needsCategory) return faulty(row, fault);
  const needsOnlyCategory = fault === faults.categoryId;
  return { kind: "faulty", leftOut: { row, fault, newCategory: categoryId, needsOnlyCategory } };
}

/** Counts what a file adds. */
class Counts {
  #counts = new Map<string, number>();

  /** How often the file adds the same before. */
  next(body: string): number {
    const count = this.#counts.get(body) ?? 0;
    this.#counts.set(body, count + 1);
    return count;
  }
}
