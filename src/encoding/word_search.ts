/**
 * Searches by words, the same in the interface and on the page: a text is found if it contains each word of the search,
 * in any order, without regard to case, accents and characters that nobody sees.
 */

import { foldName } from "./fold_name.ts";

const OUTSIDE_ASCII = /[^\0-\x7f]/;

/** Combining diacritical marks of Latin, Greek and Cyrillic. Marks of other scripts are letters, such as vowels. */
const ACCENTS = /[\u0300-\u036f]+/g;

/** Letters that have no decomposition, but that many people type as others. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  Ø: "O",
  Ł: "L",
  Đ: "D",
  Æ: "AE",
  Œ: "OE",
};
const STROKED = /[ØŁĐÆŒ]/g;

const SEPARATORS = /[\s,]+/;

/** The text by which searches compare a name or another text: that of foldName(), without accents. */
export function searchedText(text: string): string {
  // A search folds thousands of names.
  if (!OUTSIDE_ASCII.test(text)) return text.toUpperCase();
  const withoutAccents = foldName(text).normalize("NFD").replace(ACCENTS, "");
  if (!OUTSIDE_ASCII.test(withoutAccents)) return withoutAccents;
  return withoutAccents.normalize("NFC").replace(STROKED, (letter) => PLAIN_LETTERS[letter]);
}

/** The words of a search or of a name: its parts between white space and commas, as {@linkcode searchedText}. */
export function wordsOf(text: string): string[] {
  return searchedText(text).split(SEPARATORS).filter((word) => word !== "");
}

/** Whether a {@linkcode searchedText} contains each of some words. */
export function hasWords(searched: string, words: readonly string[]): boolean {
  return words.every((word) => searched.includes(word));
}
