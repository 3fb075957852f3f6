/** The lines that the preview of an import shows. */

import type { CsvRow } from "../csv/parse_csv.ts";
import { grouped } from "../parts/count_words.ts";

const FIRST_COUNT = 15;
const SPECIAL_COUNT = 5;
const OUTSIDE_ASCII = /[^\0-\x7f]/;

export interface Sample<Entry> {
  first: Entry[];
  /** Of the others, some with letters outside ASCII or with line breaks. */
  special: Entry[];
}

/**
 * The first lines, and of the others some with letters outside ASCII, which show whether the encoding is right, or with
 * line breaks, which show whether the quotes are.
 */
export function previewSample<Entry extends { row: CsvRow }>(
  entries: readonly Entry[],
): Sample<Entry> {
  const special = entries.slice(FIRST_COUNT).values()
    .filter(({ row }) => row.lastLine > row.line || hasSpecialLetters(row.text))
    .take(SPECIAL_COUNT);
  return { first: entries.slice(0, FIRST_COUNT), special: [...special] };
}

/** Whether a text has letters outside ASCII, which encodings write in different ways. */
export function hasSpecialLetters(text: string): boolean {
  return OUTSIDE_ASCII.test(text);
}

/** The choice of the sample in words; `undefined` if it has all. */
export function sampleWords(
  { first, special }: Sample<unknown>,
  length: number,
): string | undefined {
  if (first.length === length) return undefined;
  const words = `The first ${first.length} of ${grouped(length)}`;
  if (special.length === 0) return words;
  return `${words}, then ${special.length} of the others with accents or line breaks`;
}
