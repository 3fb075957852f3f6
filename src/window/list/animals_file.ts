/** Animals as a CSV file that an import can read. */

import type { Pet } from "../../../events/pet.ts";
import { csvLine } from "../../encoding/csv_line.ts";
import { FIELDS } from "../data/fields.ts";

/** The lines of the file: the titles, and one for each animal. */
export function animalsFile(pets: readonly Pet[]): string[] {
  return [HEADER, ...pets.map(lineOf)];
}

const HEADER = csvLine([...FIELDS.map(({ label }) => label), "Id"]);

function lineOf(pet: Pet): string {
  return csvLine([...FIELDS.map((it) => it.cellOf(pet[it.name])), pet.id]);
}
