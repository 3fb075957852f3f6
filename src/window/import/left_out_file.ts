/** The lines that were not imported, as a CSV file: people correct it and import it. */

import { csvLine, withoutMarks } from "../../encoding/csv_line.ts";
import type { LeftOut } from "./plan.ts";
import { linesOf } from "./row_lines.ts";

/** The titles of the imported file come first, so that its columns are found again. */
export function leftOutFile(titles: readonly string[], leftOut: readonly LeftOut[]): string[] {
  // The imported file may have marks already.
  const header = csvLine([...titles.map(withoutMarks), "Line", "Reason"]);
  const lines = leftOut.map((it) => {
    const { row: { text, cells, fault }, fault: reason } = it;
    // A line with a stray quote has no cells.
    const shown = fault === undefined ? cells : [text];
    const padded = titles.map((_, index) => withoutMarks(shown[index]?.trim() ?? ""));
    return csvLine([...padded, linesOf(it), reason]);
  });
  return [header, ...lines];
}
