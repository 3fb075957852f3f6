/** The lines that were not imported, as a CSV file: people correct it and import it. */

import { csvLine, withFormula, withoutFormula } from "../csv/csv_line.ts";
import type { LeftOut } from "./plan.ts";

/** The titles of the imported file come first, so that its columns are found again. */
export function leftOutFile(titles: readonly string[], leftOut: readonly LeftOut[]): string[] {
  const header = csvLine([...titles, "Line", "Reason"].map(safe));
  const lines = leftOut.map(({ row: { line, text, cells, fault }, fault: reason }) => {
    // A line with a stray quote has no cells.
    const shown = fault === undefined ? cells : [text];
    const padded = titles.map((_, index) => safe(shown[index]?.trim() ?? ""));
    return csvLine([...padded, String(line), safe(reason)]);
  });
  return [header, ...lines];
}

/** The file that is imported may have the apostrophe already. */
function safe(text: string): string {
  return withoutFormula(withFormula(text));
}
