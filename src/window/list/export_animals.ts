/** Downloads the list that is shown, with all its pages, as a file. */

import { signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import { wanted } from "../data/animals.ts";
import { animalsFile } from "./animals_file.ts";
import { type Reply, request } from "../data/api.ts";
import { animalsWere } from "../parts/count_words.ts";
import { downloadCsv } from "../parts/download.ts";
import { type Filter, matches, queryOf, searchedId } from "../data/filter.ts";
import { attempt, showToast } from "../parts/messages.tsx";

const PAGE_LENGTH = 100;

export const isExporting = signal(false);

export async function exportAnimals(): Promise<void> {
  if (isExporting.value) return;
  isExporting.value = true;
  await attempt("export", async () => {
    download(await readAnimals(wanted.value));
  });
  isExporting.value = false;
}

/** Downloads these animals alone. */
export function exportSelected(pets: readonly Pet[]): void {
  download(pets);
}

function download(pets: readonly Pet[]): void {
  downloadCsv("animals.csv", animalsFile(pets));
  showToast(`${animalsWere(pets.length)} exported`);
}

/** Resolves to the animals of all pages of the list. */
async function readAnimals(filter: Filter): Promise<Pet[]> {
  const found: Pet[] = [];
  const id = searchedId(filter.q);
  if (id !== undefined) found.push(...(await request<Pet[]>(`pets?ids=${id}`)).body);
  let path: string | undefined = `pets?${queryOf(filter, PAGE_LENGTH)}`;
  while (path !== undefined) {
    const page: Reply<Pet[]> = await request(path);
    found.push(...page.body);
    path = page.nextPage;
  }
  const matching = found.filter((pet) => matches(pet, filter));
  // The animal with the id may have been found by its name, too.
  const all = [...new Map(matching.map((pet) => [pet.id, pet])).values()];
  const sign = filter.order === "asc" ? 1 : -1;
  return all.sort((a, b) => sign * (a.id - b.id));
}
