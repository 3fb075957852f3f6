/** The places of the rows of a file, and how many animals they have: a quoted cell may have line breaks. */

import type { CsvRow } from "../csv/parse_csv.ts";

/** A row that people look for in the file. */
export interface Placed {
  row: CsvRow;
  /** Whether nobody knows which of the lines are animals. */
  isBroken?: boolean;
}

/** The number of the line at which the row begins, or the numbers of all lines of a broken one. */
export function linesOf(placed: Placed): string {
  const { line, lastLine } = placed.row;
  return isRange(placed) ? `${line}–${lastLine}` : String(line);
}

/** Whether the row is named with several lines. */
export function isRange({ row: { line, lastLine }, isBroken = false }: Placed): boolean {
  return isBroken && lastLine > line;
}

/** The number of animals: each line of a broken row may be one. */
export function countAnimals(some: readonly Placed[]): number {
  const counts = some.map(({ row, isBroken }) => isBroken ? row.lastLine - row.line + 1 : 1);
  return counts.reduce((sum, count) => sum + count, 0);
}
