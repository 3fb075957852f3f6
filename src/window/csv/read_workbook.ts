/** Reads a sheet of a workbook of Excel (.xlsx). Only the worker of the page loads this module, and the library with it. */

import { readXlsx } from "hucre/xlsx";
import { DAMAGED } from "./file_kind.ts";
import type { CsvRow } from "./parse_csv.ts";
import { archiveOf, textOfEntry, zipEntries, type ZipEntry } from "./zip_entries.ts";

/** More than a file of CSV of the largest size has. */
const CELLS_MAX = 5_000_000;

/** Excel keeps 15 digits of a number, so an integer from here on may be another one than was typed. */
const EXACT_LIMIT = 1e15;
const DIGITS_KEPT = 15;

const TOO_MANY_CELLS =
  "The sheet has too many cells. Save it as CSV without the columns that are not needed, and choose that file";

/** The parts that have cells. The library would also read pictures and charts, each as often as something names it. */
const PARTS_WITH_CELLS =
  /^(?:\[Content_Types\]\.xml|_rels\/\.rels|xl\/_rels\/workbook\.xml\.rels|xl\/(?:worksheets\/)?[^/]+\.xml)$/i;

/** A sheet, and the names of all sheets that people see. */
export interface Workbook {
  sheetNames: readonly string[];
  /** The index of the sheet whose rows these are. */
  sheet: number;
  rows: CsvRow[];
}

/** A sheet as the workbook lists it. */
interface ListedSheet {
  name: string;
  /** Its index among all sheets of the workbook. */
  index: number;
}

/** A fault in words for people. */
class WorkbookError extends Error {
  override readonly name = "WorkbookError";
}

/** Reads the sheet that people have chosen, or the first one with more than a line. Rejects with an error for people. */
export async function readWorkbook(
  bytes: Uint8Array<ArrayBuffer>,
  chosen?: number,
): Promise<Workbook> {
  try {
    const entries = zipEntries(bytes).filter(({ name }) => PARTS_WITH_CELLS.test(name));
    const archive = archiveOf(bytes, entries);
    const sheets = await listSheets(bytes, entries);
    const sheetNames = sheets.map(({ name }) => name);
    const wanted = chosen === undefined ? sheets.keys() : [chosen];
    let first: Workbook | undefined;
    for (const sheet of wanted) {
      const rows = await readRows(archive, sheets[sheet].index);
      const workbook = { sheetNames, sheet, rows };
      if (rows.length > 1) return workbook;
      first ??= workbook;
    }
    return first ?? { sheetNames, sheet: 0, rows: [] };
  } catch (error) {
    throw error instanceof WorkbookError ? error : new WorkbookError(DAMAGED, { cause: error });
  }
}

/** The sheets with cells that are not hidden. Charts have sheets of their own. */
async function listSheets(
  bytes: Uint8Array<ArrayBuffer>,
  entries: readonly ZipEntry[],
): Promise<ListedSheet[]> {
  const textOf = async (name: string) => {
    const entry = entries.find((it) => it.name === name);
    return entry === undefined ? "" : await textOfEntry(bytes, entry);
  };
  const relations = elementsIn(await textOf("xl/_rels/workbook.xml.rels"), "Relationship");
  const worksheets = new Set(
    relations.filter(({ Type }) => Type?.endsWith("/worksheet")).map(({ Id }) => Id),
  );
  return elementsIn(await textOf("xl/workbook.xml"), "sheet")
    .map((attributes, index) => ({ attributes, index, name: attributes.name ?? "" }))
    .filter(({ attributes }) => worksheets.has(attributes.id) && isSeen(attributes.state))
    .map(({ name, index }) => ({ name, index }));
}

/** By its state, which is "visible" if there is none (ECMA-376, ST_SheetState). */
function isSeen(state = "visible"): boolean {
  return state === "visible";
}

/** The attributes of all elements with a name, without the prefixes of their names. */
function elementsIn(xml: string, element: string): Record<string, string | undefined>[] {
  const tags = xml.matchAll(new RegExp(`<(?:\\w+:)?${element}\\s([^>]*)>`, "g"));
  return Array.from(tags, ([, text]) => {
    const attributes = text.matchAll(/(?:\w+:)?(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
    const named = Array.from(attributes, ([, name, one, other]) => [name, unescaped(one ?? other)]);
    return Object.fromEntries(named);
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function unescaped(text: string): string {
  return text.replaceAll(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi,
    (found, hex, digits, name) => {
      if (name !== undefined) return ENTITIES[name] ?? found;
      return String.fromCodePoint(hex === undefined ? Number(digits) : parseInt(hex, 16));
    },
  );
}

/** Rows without any text are left out. */
async function readRows(archive: Uint8Array, sheet: number): Promise<CsvRow[]> {
  const { sheets: [{ rows }] } = await readXlsx(archive, { sheets: [sheet] });
  const cellCount = rows.reduce((sum, { length }) => sum + length, 0);
  if (cellCount > CELLS_MAX) throw new WorkbookError(TOO_MANY_CELLS);
  return rows.flatMap((values, index) => {
    const cells = withoutEmptyEnd(values.map(textOfCell));
    const line = index + 1;
    return cells.length === 0 ? [] : [{ line, lastLine: line, text: cells.join(" | "), cells }];
  });
}

function withoutEmptyEnd(cells: readonly string[]): string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== "");
  return cells.slice(0, last + 1);
}

/** What a cell holds. A formula has the value that the spreadsheet has calculated. */
type CellValue = string | number | boolean | Date | null | undefined;

/** The text of a cell as a spreadsheet writes it into a CSV file. Dates are as in ISO 8601. */
export function textOfCell(value: CellValue): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return textOfDate(value);
  if (typeof value === "number") return textOfNumber(value);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  return value;
}

/** A number whose last digits are lost says so by its exponent. */
function textOfNumber(value: number): string {
  if (Math.abs(value) >= EXACT_LIMIT) return value.toExponential().toUpperCase();
  // 0.1 + 0.2 is stored with 17 digits.
  return String(Number(value.toPrecision(DIGITS_KEPT)));
}

function textOfDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const [day, time] = date.toISOString().slice(0, "2026-01-31T10:42".length).split("T");
  // A cell with only a time is of the day before all others.
  if (date.getUTCFullYear() < 1900) return time;
  return time === "00:00" ? day : `${day} ${time}`;
}
