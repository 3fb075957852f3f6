/** The text by which names are compared: that of foldCase(), without characters that nobody sees. */

import { foldCase } from "./fold_case.ts";
import { withoutInvisible } from "./without_invisible.ts";

const OUTSIDE_ASCII = /[^\0-\x7f]/;

/** Folds a name as {@linkcode foldCase} does. Each part of a name is folded as the name is. */
export function foldName(name: string): string {
  // A search folds thousands of names.
  if (!OUTSIDE_ASCII.test(name)) return name.toUpperCase();
  return foldCase(withoutInvisible(name));
}
