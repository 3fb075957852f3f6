/** The lines of the rows of a file: a row has several if a quoted cell has line breaks. */

import type { CsvRow } from "../csv/parse_csv.ts";

/** The numbers of the lines of a row. */
export function linesOf({ line, lastLine }: CsvRow): string {
  return line === lastLine ? String(line) : `${line}–${lastLine}`;
}

/** The number of lines of some rows. */
export function countLines(some: readonly { row: CsvRow }[]): number {
  return some.reduce((sum, { row }) => sum + row.lastLine - row.line + 1, 0);
}
