/** Groups the lines that an import leaves out by their causes. */

import { foldName } from "../../encoding/fold_name.ts";
import type { LeftOut } from "./plan.ts";
import { countLines } from "./row_lines.ts";

/** The lines of each cause, the most lines first. A new category is one cause, as names are compared. */
export function causesOf(leftOut: readonly LeftOut[]): LeftOut[][] {
  const causes = Map.groupBy(leftOut, ({ fault }) => foldName(fault));
  return [...causes.values()].sort((a, b) => countLines(b) - countLines(a));
}
