/** Animals as a CSV file that an import can read. */

import type { Pet } from "../../../events/pet.ts";
import { type CsvCell, csvLine } from "../../encoding/csv_line.ts";
import { type AnyField, FIELDS } from "../data/fields.ts";

/** The lines of the file: the titles, and one for each animal. */
export function animalsFile(pets: readonly Pet[]): string[] {
  return [HEADER, ...pets.map(lineOf)];
}

const HEADER = csvLine([
  ...FIELDS.map(({ name }) => name),
  "id",
  ...FIELDS.flatMap(({ exported }) => exported?.title ?? []),
]);

function lineOf(pet: Pet): string {
  const cells = FIELDS.map((field) => cellOf(field, pet));
  const further = FIELDS.flatMap(({ name, exported }) => exported?.textOf(pet[name]) ?? []);
  return csvLine([...cells, pet.id, ...further]);
}

function cellOf({ name, textOf }: AnyField, pet: Pet): CsvCell {
  const value: unknown = pet[name];
  return typeof value === "bigint" ? value : textOf(value);
}
