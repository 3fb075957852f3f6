/** Downloads the list that is shown, with all its pages, as a CSV file that an import can read. */

import { signal } from "@preact/signals";
import type { Pet } from "../../events/pet.ts";
import { wanted } from "./animals.ts";
import { request } from "./api.ts";
import { animalsWere } from "./count_words.ts";
import { csvLine, withoutFormula } from "./csv/csv_line.ts";
import { downloadCsv } from "./download.ts";
import { FIELDS } from "./fields.tsx";
import { queryOf } from "./filter.ts";
import { attempt, showToast } from "./messages.tsx";

const PAGE_LENGTH = 100;

export const isExporting = signal(false);

export async function exportAnimals(): Promise<void> {
  if (isExporting.value) return;
  isExporting.value = true;
  await attempt(async () => {
    const lines = await readLines(`pets?${queryOf(wanted.value, PAGE_LENGTH)}`);
    downloadCsv("animals.csv", [HEADER, ...lines]);
    showToast(`${animalsWere(lines.length)} exported`);
  });
  isExporting.value = false;
}

/** Downloads these animals alone. */
export function exportSelected(pets: readonly Pet[]): void {
  downloadCsv("animals.csv", [HEADER, ...pets.map(lineOf)]);
  showToast(`${animalsWere(pets.length)} exported`);
}

async function readLines(firstPage: string): Promise<string[]> {
  const lines: string[] = [];
  let path: string | undefined = firstPage;
  while (path !== undefined) {
    const page: { body: Pet[]; nextPage: string | undefined } = await request<
      Pet[]
    >(path);
    lines.push(...page.body.map(lineOf));
    path = page.nextPage;
  }
  return lines;
}

/** The name comes first: if a spreadsheet separates by semicolons, its first character still begins a cell. */
const HEADER = csvLine([...FIELDS.map(({ name }) => name), "id"]);

function lineOf(pet: Pet): string {
  const cells = FIELDS.map((field) => {
    const text = field.textOf(pet[field.name]);
    return field.isFreeText ? withoutFormula(text) : text;
  });
  return csvLine([...cells, String(pet.id)]);
}
