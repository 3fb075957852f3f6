/**
 * Writes CSV that spreadsheets open without running any of it, also those that separate by semicolons, tabs or bars. They
 * begin a cell, or a row, in the middle of a quoted text.
 */

/** A text, or a number that is written as it is. */
export type CsvCell = string | number | bigint;

/** Characters with which a formula begins. The last four are full-width forms, which some spreadsheets take likewise. */
const FORMULA = "=+\\-@＝＋－＠";

/**
 * What may come before a formula: blanks, which some readers skip, and apostrophes of the text, because a text that looks
 * marked needs a mark, too.
 */
const BEFORE = "(?:[^\\S\\t\\r\\n]|')*";

/** A place within a text where a cell begins for some reader. */
const INNER_START = "(?<=[;\\t|\\n]|\\r(?!\\n))";

/** What must not begin a text: OWASP names formulas, tabs and line breaks. */
const UNSAFE_TEXT = `${BEFORE}[\\t\\r\\n${FORMULA}]`;

/**
 * What must not begin a cell within a text. Before a quote of the text, or before the one that ends it, the reader would
 * take the wrong part of the line for a quoted text.
 */
const UNSAFE_INNER = `${BEFORE}(?:[\\t"${FORMULA}]|$)`;

const UNMARKED = new RegExp(`^(?=${UNSAFE_TEXT})|${INNER_START}(?=${UNSAFE_INNER})`, "g");

const MARKS = new RegExp(`^'(?=${UNSAFE_TEXT})|${INNER_START}'(?=${UNSAFE_INNER})`, "g");

/** One line of CSV, with its line break. An apostrophe comes before each part of a text that could be a formula. */
export function csvLine(cells: readonly CsvCell[]): string {
  return cells.map(cellText).join(",") + "\r\n";
}

/** The text of a cell of {@linkcode csvLine} without its apostrophes. */
export function withoutMarks(cell: string): string {
  return cell.replaceAll(MARKS, "");
}

function cellText(cell: CsvCell): string {
  if (typeof cell !== "string") return String(cell);
  const marked = cell.replaceAll(UNMARKED, "'");
  return /[",;|\t\r\n]|^\s|\s$/.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked;
}
