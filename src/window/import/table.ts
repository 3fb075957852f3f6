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
  titles: string[];
  rows: CsvRow[];
}

/** Reads a file, in the encoding that the reader of the page has chosen, if any. Throws an error for people. */
export function readTable(bytes: Uint8Array, encoding?: string): Table {
  if (SPREADSHEETS.some((beginning) => beginning.every((byte, index) => byte === bytes[index]))) {
    throw new Error("This is not a CSV file. Open it in your spreadsheet, and save it as CSV");
  }
  const decoded = decodeText(bytes, encoding);
  const [first, ...rows] = parseCsv(decoded.text);
  if (first === undefined) throw new Error("The file is empty");
  if (first.fault !== undefined) {
    const [text] = first.text.split(/[\r\n]/, 1);
    throw new Error(`Line ${first.openQuoteLine ?? first.line} ${first.fault}: ${text}`);
  }
  const titles = first.cells.map((cell) => cell.trim());
  const checked = rows.map((row) => withEncodingFault(row, decoded));
  return { encoding: decoded.encoding, isAssumed: decoded.isAssumed, titles, rows: checked };
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
