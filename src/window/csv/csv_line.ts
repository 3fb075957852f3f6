/** Writes CSV that spreadsheets open without running any of it. */

/** One line of CSV, with its line break. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(quoted).join(",") + "\r\n";
}

function quoted(cell: string): string {
  return /[",;|\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * A spreadsheet runs a cell that begins with such a character as a formula, also if others have written it. With an
 * apostrophe before it, it shows the text. The last four are full-width forms, which some spreadsheets take likewise.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe of {@linkcode withoutFormula}. */
export function withFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
