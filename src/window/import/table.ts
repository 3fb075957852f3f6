/** A CSV file as a table: its columns, and its rows. */

import { type DecodedText, decodeText, ENCODINGS } from "../csv/decode_text.ts";
import { type CsvRow, parseCsv } from "../csv/parse_csv.ts";

export const FILE_MAX_BYTES = 20_000_000;

/** How the files of spreadsheets begin: those since 2007, and older ones. */
const SPREADSHEETS = [[0x50, 0x4b, 3, 4], [0xd0, 0xcf, 0x11, 0xe0]];

export interface Table {
  /** The encoding that was used, a key of `ENCODINGS`, and whether another one is as likely. */
  encoding: string;
  isAssumed: boolean;
  /** Whether the first line has the titles of the columns. Otherwise it is one of the rows. */
  hasTitles: boolean;
  titles: string[];
  rows: CsvRow[];
}

interface Reading {
  /** The encoding that the reader of the page has chosen. */
  encoding?: string;
  hasTitles?: boolean;
}

/** Reads a file. Throws an error for people. */
export function readTable(bytes: Uint8Array, reading: Reading = {}): Table {
  const { encoding, hasTitles = true } = reading;
  if (SPREADSHEETS.some((beginning) => beginning.every((byte, index) => byte === bytes[index]))) {
    throw new Error("This is not a CSV file. Open it in your spreadsheet, and save it as CSV");
  }
  const decoded = decodeText(bytes, encoding);
  const all = parseCsv(decoded.text);
  const [first] = all;
  if (first === undefined) throw new Error("The file is empty");
  if (first.fault !== undefined) {
    throw new Error(`Line ${first.line} ${first.fault}: ${first.text}`);
  }
  const texts = first.cells.map((cell) => cell.trim());
  const titles = hasTitles ? texts : texts.map((text, index) => `Column ${index + 1}: ${text}`);
  const rows = hasTitles ? all.slice(1) : all;
  const { isAssumed } = decoded;
  const checked = rows.map((row) => withEncodingFault(row, decoded));
  return { encoding: decoded.encoding, isAssumed, hasTitles, titles, rows: checked };
}

/** The row, with a fault if its lines have bytes that the encoding does not have. */
function withEncodingFault(row: CsvRow, { encoding, brokenLines }: DecodedText): CsvRow {
  if (row.fault !== undefined || brokenLines.size === 0) return row;
  for (let line = row.line; line <= row.lastLine; line++) {
    if (brokenLines.has(line)) {
      return { ...row, fault: `has a character that is not ${ENCODINGS[encoding]}` };
    }
  }
  return row;
}
