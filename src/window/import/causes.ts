/** Groups the lines that an import leaves out by their causes. */

import { foldCase } from "../../encoding/fold_case.ts";
import type { LeftOut } from "./plan.ts";

/** The lines of each cause, the most lines first. A new category is one cause, whatever the case of its name. */
export function causesOf(leftOut: readonly LeftOut[]): LeftOut[][] {
  const causes = Map.groupBy(leftOut, ({ fault }) => foldCase(fault));
  return [...causes.values()].sort((a, b) => b.length - a.length);
}
