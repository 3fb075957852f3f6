// CSV as in RFC 4180, and as spreadsheets write it: with `;` or tabs instead of commas, and with a byte order mark.

const SEPARATORS = [",", ";", "\t"];

/**
 * Returns the rows of a text that have any cell with text. A row is its cells, and the number of the line on which it
 * begins; `fault` says what is wrong with its quotes.
 */
export function parseCsv(text) {
  const separator = separatorOf(text);
  const rows = [];
  let place = { index: text.startsWith("\ufeff") ? 1 : 0, line: 1 };
  while (place.index < text.length) {
    const { row, next } = readRow(text, separator, place);
    const isBlank = row.fault === undefined && row.cells.every((cell) => cell === "");
    if (!isBlank) rows.push(row);
    place = next;
  }
  return rows;
}

/** The separator that the first line has most often outside of quotes. */
function separatorOf(text) {
  const [header] = text.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1);
  const countOf = (separator) => header.split(separator).length;
  return SEPARATORS.reduce((best, it) => countOf(it) > countOf(best) ? it : best);
}

/** Reads one row. A line break in quotes belongs to the row. */
function readRow(text, separator, { index: start, line }) {
  const cells = [];
  let index = start;
  let fault;
  for (;;) {
    const cell = text[index] === '"' ? readQuoted(text, index) : readPlain(text, separator, index);
    cells.push(cell.text);
    fault ??= cell.fault;
    index = cell.end;
    if (text[index] === separator) {
      index++;
      continue;
    }
    const isEnd = index >= text.length || isLineBreak(text[index]);
    if (isEnd) break;
    fault ??= "has text after a closing quote";
    index = endOfLine(text, index);
    break;
  }
  const next = {
    index: afterLineBreak(text, index),
    line: line + breaksIn(text, start, index) + 1,
  };
  return { row: { line, cells, fault }, next };
}

function readQuoted(text, start) {
  let content = "";
  let index = start + 1;
  for (;;) {
    const quote = text.indexOf('"', index);
    if (quote < 0) {
      return { text: "", end: endOfLine(text, start), fault: "has a quote that is never closed" };
    }
    content += text.slice(index, quote);
    if (text[quote + 1] !== '"') return { text: content, end: quote + 1 };
    content += '"';
    index = quote + 2;
  }
}

function readPlain(text, separator, start) {
  let end = start;
  while (end < text.length && text[end] !== separator && !isLineBreak(text[end])) end++;
  return { text: text.slice(start, end), end };
}

function isLineBreak(character) {
  return character === "\n" || character === "\r";
}

function endOfLine(text, start) {
  let end = start;
  while (end < text.length && !isLineBreak(text[end])) end++;
  return end;
}

function afterLineBreak(text, index) {
  return index + (text.startsWith("\r\n", index) ? 2 : 1);
}

function breaksIn(text, start, end) {
  return text.slice(start, end).split(/\r\n|\r|\n/).length - 1;
}

/** One line of CSV, with its line break. */
export function csvLine(cells) {
  return cells.map(quoted).join(",") + "\r\n";
}

function quoted(cell) {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * A spreadsheet runs a cell that begins with such a character as a formula, also if others have written it. With an
 * apostrophe before it, it shows the text. The last four are full-width forms, which some spreadsheets take likewise.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

export function withoutFormula(text) {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe of {@linkcode withoutFormula}. */
export function withFormula(text) {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
