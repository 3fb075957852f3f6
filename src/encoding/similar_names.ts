/**
 * Names that a search may have meant: most of its words are words of the name, or differ from them in one or two letters.
 */

import { wordsOf } from "./word_search.ts";

/** Longer words do not differ by mistakes of typing alone. */
const LONGEST_WORD = 30;

/** Keeps the names that are most similar to a search, without comparing them with each other. */
export class SimilarNames {
  readonly #words: readonly string[];
  readonly #limit: number;
  /** The costs of the names, each name once. At most `limit`. */
  readonly #costs = new Map<string, number>();

  constructor(search: string, limit: number) {
    this.#words = wordsOf(search);
    this.#limit = limit;
  }

  add(name: string): void {
    if (this.#costs.has(name)) return;
    const cost = this.#costOf(name);
    if (cost === undefined) return;
    this.#costs.set(name, cost);
    if (this.#costs.size > this.#limit) this.#costs.delete(this.#inOrder().at(-1)!);
  }

  /** The names, the most similar one first. */
  get names(): string[] {
    return this.#inOrder();
  }

  #inOrder(): string[] {
    return [...this.#costs].sort(([, one], [, other]) => one - other).map(([name]) => name);
  }

  /** The letters to change until each word is a word of the name, or to leave out; `undefined` if no word is similar. */
  #costOf(name: string): number | undefined {
    const ofName = wordsOf(name);
    let sum = 0;
    let isSimilar = false;
    for (const word of this.#words) {
      const cost = Math.min(...ofName.map((other) => costOfWord(word, other)));
      isSimilar ||= cost < Infinity;
      sum += cost < Infinity ? cost : word.length;
    }
    return isSimilar ? sum : undefined;
  }
}

/** The letters in which a word differs from another one, or from its beginning; `Infinity` if these are too many. */
function costOfWord(word: string, other: string): number {
  if (other.includes(word)) return 0;
  const most = mostChanges(word);
  if (Math.abs(word.length - other.length) > most || word.length > LONGEST_WORD) return Infinity;
  const changes = changesBetween(word, other);
  return changes <= most ? changes : Infinity;
}

/** The mistakes that a word of this length may have. */
function mostChanges({ length }: string): number {
  if (length < 3) return 0;
  return length < 5 ? 1 : 2;
}

/** How many letters must be added, left out, replaced or swapped with the next one (optimal string alignment). */
export function changesBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] &&
        one[i - 2] === other[j - 1];
      const swapped = isSwapped ? beforeLast[j - 2] + 1 : Infinity;
      row.push(Math.min(last[j] + 1, row[j - 1] + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length];
}
