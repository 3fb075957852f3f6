/** A file as a table: its columns, and its rows. */

import { type DecodedText, decodeText, ENCODINGS } from "../csv/decode_text.ts";
import { type CsvRow, parseCsv } from "../csv/parse_csv.ts";
import type { Workbook } from "../csv/read_workbook.ts";

export const FILE_MAX_BYTES = 20_000_000;

export interface Table {
  origin: CsvOrigin | WorkbookOrigin;
  titles: string[];
  rows: CsvRow[];
}

/** The encoding that was used, a key of `ENCODINGS`, and whether another one is as likely. */
export interface CsvOrigin {
  kind: "csv";
  encoding: string;
  isAssumed: boolean;
}

/** The names of the sheets, and the index of that which was read. */
export interface WorkbookOrigin {
  kind: "workbook";
  sheetNames: readonly string[];
  sheet: number;
}

/** Reads a CSV file, in the encoding that the reader of the page has chosen, if any. Throws an error for people. */
export function readTable(bytes: Uint8Array, encoding?: string): Table {
  const decoded = decodeText(bytes, encoding);
  const { isAssumed } = decoded;
  const table = tableOf(
    { kind: "csv", encoding: decoded.encoding, isAssumed },
    parseCsv(decoded.text),
  );
  return { ...table, rows: table.rows.map((row) => withEncodingFault(row, decoded)) };
}

/** Throws an error for people. */
export function tableOfWorkbook({ sheetNames, sheet, rows }: Workbook): Table {
  return tableOf({ kind: "workbook", sheetNames, sheet }, rows);
}

function tableOf(origin: Table["origin"], [first, ...rows]: CsvRow[]): Table {
  if (first === undefined) throw new Error("The file is empty");
  if (first.fault !== undefined) {
    const [text] = first.text.split(/[\r\n]/, 1);
    throw new Error(`Line ${first.openQuoteLine ?? first.line} ${first.fault}: ${text}`);
  }
  return { origin, titles: first.cells.map((cell) => cell.trim()), rows };
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
