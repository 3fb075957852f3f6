/** A CSV file as a table: its columns by the titles of its first line, and its other lines. */

import { decodeText, ENCODINGS } from "../csv/decode_text.ts";
import { type CsvRow, parseCsv } from "../csv/parse_csv.ts";

export const FILE_MAX_BYTES = 20_000_000;

export interface Table {
  /** The encoding that was used, a key of `ENCODINGS`, and whether another one is as possible. */
  encoding: string;
  isAssumed: boolean;
  /** The titles of the columns. */
  titles: string[];
  rows: CsvRow[];
}

/** Reads a file. With `encoding`, the reader of the page has chosen it. Throws an error for people. */
export function readTable(bytes: Uint8Array, encoding?: string): Table {
  const decoded = decodeText(bytes, encoding);
  const [header, ...rows] = parseCsv(decoded.text);
  if (header === undefined) throw new Error("The file is empty");
  if (header.fault !== undefined) {
    throw new Error(`Line ${header.line} ${header.fault}: ${header.text}`);
  }
  const { isAssumed, brokenLines } = decoded;
  const encodingFault = `has a character that is not ${ENCODINGS[decoded.encoding]}`;
  const isBroken = ({ line, lastLine }: CsvRow) => {
    for (let number = line; number <= lastLine; number++) {
      if (brokenLines.has(number)) return true;
    }
    return false;
  };
  return {
    encoding: decoded.encoding,
    isAssumed,
    titles: header.cells.map((title) => title.trim()),
    rows: brokenLines.size === 0
      ? rows
      : rows.map((row) => isBroken(row) ? { ...row, fault: row.fault ?? encodingFault } : row),
  };
}
