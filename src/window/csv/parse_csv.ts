/**
 * CSV as in RFC 4180, and as people and spreadsheets write it: with `;`, tabs or `|`, a first line such as `sep=;`, and
 * blanks around quotes.
 */

const SEPARATORS = [",", ";", "\t", "|"];

/** A first line that names the separator. Excel writes and hides it. */
const SEPARATOR_LINE = /^"?sep=([^"\w\r\n])"?\1*(?:\r\n|\r|\n|$)/i;

const OPEN_QUOTE =
  "has a quote that is open to the end of the file. Close or delete it, and choose the file again";

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
  /** The line whose quote is open to the end of the text, if this is the fault. */
  openQuoteLine?: number;
}

/** The start of a row. */
interface Place {
  index: number;
  line: number;
}

/** A cell or a row, and the index after it. */
interface Read {
  end: number;
  fault?: string;
  /** The index of a quote that is open to the end of the text. */
  openQuote?: number;
}

/** Returns the rows of a text. Rows without any text are left out. */
export function parseCsv(text: string): CsvRow[] {
  const { separator, start } = separatorOf(text);
  const rows: CsvRow[] = [];
  let place = start;
  while (place.index < text.length) {
    const { row, end } = readRow(text, separator, place);
    const isBlankRow = row.fault === undefined && row.cells.every((cell) => cell.trim() === "");
    if (!isBlankRow) rows.push(row);
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

function readRow(
  text: string,
  separator: string,
  { index: start, line }: Place,
): { row: CsvRow; end: number } {
  const { cells, end, fault, openQuote } = readCells(text, separator, start);
  const lineAt = (index: number) => line + text.slice(start, index).split(LINE_BREAK).length - 1;
  const place = { line, lastLine: lineAt(end), text: text.slice(start, end) };
  if (openQuote !== undefined) {
    const openQuoteLine = lineAt(openQuote);
    return { row: { ...place, cells: [], fault: OPEN_QUOTE, openQuoteLine }, end };
  }
  return { row: fault === undefined ? { ...place, cells } : { ...place, cells: [], fault }, end };
}

function readCells(
  text: string,
  separator: string,
  start: number,
): Read & { cells: string[] } {
  const cells: string[] = [];
  let fault: string | undefined;
  let openQuote: number | undefined;
  let index = start;
  for (;;) {
    const cell = readCell(text, separator, index);
    cells.push(cell.content);
    fault ??= cell.fault;
    openQuote ??= cell.openQuote;
    const isLast = text[cell.end] !== separator;
    if (isLast) return { cells, end: cell.end, fault, openQuote };
    index = cell.end + 1;
  }
}

/** Reads a cell. Blanks before and after its quotes do not count. */
function readCell(text: string, separator: string, start: number): Read & { content: string } {
  const first = afterBlanks(text, separator, start);
  if (text[first] !== '"') {
    const end = endOfPlain(text, separator, start);
    return { content: text.slice(start, end), end };
  }
  const quoted = readQuoted(text, first);
  const end = endOfPlain(text, separator, quoted.end);
  const hasMore = end > afterBlanks(text, separator, quoted.end);
  return { ...quoted, end, fault: hasMore ? "has text after a closing quote" : undefined };
}

function readQuoted(text: string, start: number): Read & { content: string } {
  let content = "";
  let index = start + 1;
  for (;;) {
    const quote = text.indexOf('"', index);
    if (quote < 0) return { content, end: text.trimEnd().length, openQuote: start };
    content += text.slice(index, quote);
    if (text[quote + 1] !== '"') return { content, end: quote + 1 };
    content += '"';
    index = quote + 2;
  }
}

/** The index of the next separator or line break. */
function endOfPlain(text: string, separator: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== separator && !isLineBreak(text[end])) end++;
  return end;
}

function afterBlanks(text: string, separator: string, start: number): number {
  let index = start;
  while (isBlankCharacter(text[index]) && text[index] !== separator) index++;
  return index;
}

function isBlankCharacter(character: string | undefined): boolean {
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
