/** The lines that the preview of an import shows. */

import type { Entry } from "./plan.ts";

const FIRST_COUNT = 5;
const SPECIAL_COUNT = 10;
const OUTSIDE_ASCII = /[^\0-\x7f]/;

/**
 * The first lines, and of the others some with letters outside ASCII, which show whether the encoding is right, or with
 * line breaks, which show whether the quotes are.
 */
export function previewSample(entries: readonly Entry[]): Entry[] {
  const special = entries.slice(FIRST_COUNT).values()
    .filter(({ row }) => row.lastLine > row.line || OUTSIDE_ASCII.test(row.text))
    .take(SPECIAL_COUNT);
  return [...entries.slice(0, FIRST_COUNT), ...special];
}
