/** The numbers of pets by their status, and names that a search may have meant. */

import type { Counts } from "eventstore-less";
import { nameIn, statusIn } from "../../events/pet.ts";
import { SimilarNames } from "../encoding/similar_names.ts";
import { STATUS_FILTERS } from "./described_pets.ts";
import { SEARCH_MAX } from "./page_query.ts";
import { petListOf } from "./pet_keys.ts";
import type { PetRecord } from "./pet_records.ts";

/** Maximum number of similar names. */
export const SIMILAR_NAMES_MAX = 5;

export class PetSummary {
  readonly #counts: Record<string, number> = {};
  readonly #similar: SimilarNames;
  #hasFound = false;

  constructor(search: string) {
    this.#similar = new SimilarNames(search, SIMILAR_NAMES_MAX);
  }

  /** Counts a pet that the search finds. */
  count({ text }: PetRecord): void {
    const list = petListOf(statusIn(text));
    this.#counts[list] = (this.#counts[list] ?? 0) + 1;
    this.#hasFound = true;
  }

  /** Looks at a pet that the search does not find. */
  passOver({ text }: PetRecord): void {
    if (this.#hasFound) return;
    const name = nameIn(text);
    // A search for a longer one is refused.
    if (name.length <= SEARCH_MAX) this.#similar.add(name);
  }

  get text(): string {
    return summaryText(this.#counts, this.#hasFound ? [] : this.#similar.names);
  }
}

/** The JSON text of a summary. `counts` are the numbers of pets by their lists; one that is absent is 0. */
export function summaryText(counts: Counts, similarNames: readonly string[] = []): string {
  const all = STATUS_FILTERS.map((list) => [list, counts[list] ?? 0]);
  return JSON.stringify({ counts: Object.fromEntries(all), similarNames });
}
