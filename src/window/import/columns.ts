/** The fields that the columns of a file have. The page guesses them, and its reader can choose. */

import { withoutMarks } from "../../encoding/csv_line.ts";
import type { CsvRow } from "../csv/parse_csv.ts";
import { EDITABLE_FIELDS, type EditableField } from "../data/fields.ts";

/** The content that a column can have: a field, or the identifier of an animal that is in the store. */
export type Target = EditableField["name"] | "id";

/** The index of the column of each field, and of the identifier. */
export type Columns = Partial<Record<Target, number>>;

export const TARGETS: readonly { target: Target; label: string; headings: string[] }[] = [
  ...EDITABLE_FIELDS.map(({ name, label, headings }) => ({
    target: name,
    label,
    headings: [name, label, ...headings].map(plain),
  })),
  { target: "id", label: "Id", headings: ["id"] },
];

/** The columns whose titles name a field, also as "animal_name" or "Pet category". */
export function guessColumns(titles: readonly string[]): Columns {
  const headings = titles.map(plain);
  const columns: Columns = {};
  for (const { target, headings: known } of TARGETS) {
    // The first of the titles that are known comes first.
    const exact = known.map((it) => headings.indexOf(it)).find((it) => it >= 0) ?? -1;
    // The identifiers of other systems are not those of this store.
    const isPrefixed = (it: string) =>
      target !== "id" && known.includes(it.replace(/^(animal|pet)/, ""));
    const index = exact >= 0 ? exact : headings.findIndex(isPrefixed);
    if (index >= 0) columns[target] = index;
  }
  return columns;
}

/** The field of a column that has no use, because another column has this field. */
export function doubledField(title: string): string | undefined {
  const [target] = Object.keys(guessColumns([title]));
  return TARGETS.find((it) => it.target === target)?.label;
}

/** A title in small letters, without accents and other characters. */
function plain(title: string): string {
  return title.toLowerCase().normalize("NFD").replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** The label of the field that a column has; `undefined` if it has no use. */
export function fieldOfColumn(columns: Columns, index: number): string | undefined {
  return TARGETS.find(({ target }) => columns[target] === index)?.label;
}

/** Whether a column may have the choices of a field under a title that nobody knows, as "Zustand" for the status. */
export function mayHaveChoices(titles: readonly string[], columns: Columns): boolean {
  const hasUnused = titles.some((_, index) => fieldOfColumn(columns, index) === undefined);
  return hasUnused && EDITABLE_FIELDS.some((it) => it.choices && columns[it.name] === undefined);
}

/** The text of a row in a column, without marks and blanks around it. A missing cell at the end of a row is empty. */
export function cellOf({ cells }: CsvRow, columns: Columns, target: Target): string | undefined {
  const index = columns[target];
  return index === undefined ? undefined : withoutMarks((cells[index] ?? "").trim());
}

/** The fields that a new animal needs and that have no column, by their labels. */
export function missingColumns(columns: Columns): string[] {
  const missing = EDITABLE_FIELDS.filter((it) => it.isRequired && columns[it.name] === undefined);
  return missing.map(({ label }) => label);
}
