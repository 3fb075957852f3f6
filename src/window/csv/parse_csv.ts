/**
 * CSV as in RFC 4180, and as people and spreadsheets write it: with `;`, tabs or `|`, a first line such as `sep=;`, and
 * blanks around cells. A stray quote costs only its own line.
 */

const SEPARATORS = [",", ";", "\t", "|"];

/** A first line that names the separator. Excel writes and hides it. */
const SEPARATOR_LINE = /^"?sep=([^"\w\r\n])"?\1*(?:\r\n|\r|\n|$)/i;

const LINE_BREAK = /\r\n|\r|\n/;

export interface CsvRow {
  /** The number of its first line, from 1. */
  line: number;
  /** The number of its last line: another one if a quoted cell has line breaks. */
  lastLine: number;
  /** The text of its lines. */
  text: string;
  cells: string[];
  /** The fault of its quotes in words; `undefined` if there is none. A row with a fault has no cells. */
  fault?: string;
}

/** Where a row or a cell begins. */
interface Place {
  index: number;
  line: number;
}

interface Cell {
  text: string;
  /** The index after it. */
  end: number;
  fault?: string;
}

/** Returns the rows of a text. Rows without any text are left out. */
export function parseCsv(text: string): CsvRow[] {
  const { separator, start } = separatorOf(text);
  const rows: CsvRow[] = [];
  let place = start;
  /** The number of cells of the first row without a fault. */
  let width: number | undefined;
  while (place.index < text.length) {
    const { row, end } = readRow(text, separator, place, width);
    const isBlank = row.fault === undefined && row.cells.every((cell) => cell.trim() === "");
    if (!isBlank) {
      rows.push(row);
      // A row with a fault has no cells.
      if (row.fault === undefined) width ??= row.cells.length;
    }
    place = { index: afterLineBreak(text, end), line: row.lastLine + 1 };
  }
  return rows;
}

/** The separator: the one that the file names, or else the one that its first line with text has most often. */
function separatorOf(text: string): { separator: string; start: Place } {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const named = SEPARATOR_LINE.exec(text.slice(start, start + 100));
  if (named !== null) {
    return { separator: named[1], start: { index: start + named[0].length, line: 2 } };
  }
  const firstText = text.slice(start).search(/\S/);
  const headerEnd = endOfLine(text, start + Math.max(0, firstText));
  const header = text.slice(start, headerEnd).replaceAll(/"[^"]*"/g, "");
  const countOf = (separator: string) => header.split(separator).length;
  const separator = SEPARATORS.reduce((best, it) => countOf(it) > countOf(best) ? it : best);
  return { separator, start: { index: start, line: 1 } };
}

/** Reads the row at a place. If it has a fault, it is one line, and the next row begins with the next line. */
function readRow(
  text: string,
  separator: string,
  { index: start, line }: Place,
  width: number | undefined,
): { row: CsvRow; end: number } {
  const { cells, end, fault } = readCells(text, separator, start);
  const lastLine = line + text.slice(start, end).split(LINE_BREAK).length - 1;
  const isSwallowing = cells.some((cell) => hasRowInside(cell, separator, width ?? cells.length));
  if (fault === undefined && !isSwallowing) {
    return { row: { line, lastLine, text: text.slice(start, end), cells }, end };
  }
  const late = `has a quote that is closed only in line ${lastLine}`;
  const lineEnd = endOfLine(text, start);
  const lineText = text.slice(start, lineEnd);
  const row = { line, lastLine: line, text: lineText, cells: [], fault: fault ?? late };
  return { row, end: lineEnd };
}

/**
 * Whether a cell with line breaks has a line inside that looks like a row of its own: then its first quote is a stray
 * one, and the cell ends where the next quote happens to be.
 */
function hasRowInside(cell: string, separator: string, width: number): boolean {
  const [, ...others] = cell.split(LINE_BREAK);
  if (width === 1) return others.length > 0;
  return others.some((line) => line.split(separator).length === width);
}

function readCells(
  text: string,
  separator: string,
  start: number,
): { cells: string[]; end: number; fault?: string } {
  const cells: string[] = [];
  let index = start;
  for (;;) {
    const cell = readCell(text, separator, index);
    cells.push(cell.text);
    if (cell.fault !== undefined) return { cells, end: cell.end, fault: cell.fault };
    const isLast = text[cell.end] !== separator;
    if (isLast) return { cells, end: cell.end };
    index = cell.end + 1;
  }
}

/** Reads a cell. Blanks before and after its quotes do not count. */
function readCell(text: string, separator: string, start: number): Cell {
  const first = afterBlanks(text, separator, start);
  if (text[first] !== '"') return readPlain(text, separator, start);
  const { text: content, end: quoteEnd, fault } = readQuoted(text, first);
  const end = afterBlanks(text, separator, quoteEnd);
  if (fault !== undefined) return { text: content, end, fault };
  const isAtEnd = end >= text.length || text[end] === separator || isLineBreak(text[end]);
  if (isAtEnd) return { text: content, end, fault: undefined };
  return { text: content, end, fault: "has text after a closing quote" };
}

function readQuoted(text: string, start: number): Cell {
  let content = "";
  let index = start + 1;
  for (;;) {
    const quote = text.indexOf('"', index);
    if (quote < 0) return { text: "", end: text.length, fault: "has a quote that is never closed" };
    content += text.slice(index, quote);
    if (text[quote + 1] !== '"') return { text: content, end: quote + 1 };
    content += '"';
    index = quote + 2;
  }
}

function readPlain(text: string, separator: string, start: number): Cell {
  let end = start;
  while (end < text.length && text[end] !== separator && !isLineBreak(text[end])) end++;
  return { text: text.slice(start, end), end };
}

function afterBlanks(text: string, separator: string, start: number): number {
  let index = start;
  while (isBlank(text[index]) && text[index] !== separator) index++;
  return index;
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && character.trim() === "" && !isLineBreak(character);
}

function isLineBreak(character: string): boolean {
  return character === "\n" || character === "\r";
}

function endOfLine(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isLineBreak(text[end])) end++;
  return end;
}

function afterLineBreak(text: string, index: number): number {
  return index + (text.startsWith("\r\n", index) ? 2 : 1);
}
