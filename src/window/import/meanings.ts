/** What the words of a file mean in a field that has choices: "frei" is Available. People say so once for a file. */

import { foldName } from "../../encoding/fold_name.ts";
import { EDITABLE_FIELDS, type EditableField, type LabelledText } from "../data/fields.ts";
import { seenText } from "../parts/seen_text.ts";
import { cellOf, type Columns } from "./columns.ts";
import type { Table } from "./table.ts";

/** The texts of choices by the words that mean them. */
export type Meanings = ReadonlyMap<string, string>;

export const NO_MEANINGS: Meanings = new Map();

/** A word that a field does not know. */
export interface UnknownWord {
  /** The word as meanings have it. */
  key: string;
  /** The word as the first row has it. */
  text: string;
  /** How many rows have it. */
  count: number;
}

/** A field with choices, and the words that it does not know, the most frequent ones first. */
export interface UnknownWords {
  field: EditableField;
  choices: readonly LabelledText[];
  words: readonly UnknownWord[];
}

/** The words of a file that no field knows, by their fields. */
export function unknownWords({ rows }: Table, columns: Columns): UnknownWords[] {
  return EDITABLE_FIELDS.flatMap((field) => {
    const { name, choices } = field;
    if (choices === undefined || columns[name] === undefined) return [];
    const texts = rows.map((row) => cellOf(row, columns, name) ?? "");
    const unknown = texts.filter((text) => !field.parse(text).isSound);
    const byKey = Map.groupBy(unknown, (text) => keyOf(field, text));
    const words = Array.from(byKey, ([key, [text, ...others]]) => ({
      key,
      text: seenText(text),
      count: 1 + others.length,
    }));
    if (words.length === 0) return [];
    return [{ field, choices, words: words.sort((a, b) => b.count - a.count) }];
  });
}

/** The text that a cell means: its own one if it has no other meaning. */
export function meaningOf(meanings: Meanings, field: EditableField, text: string): string {
  return meanings.get(keyOf(field, text)) ?? text;
}

/** Words that look alike are one, in small letters or large ones. */
function keyOf({ name }: EditableField, text: string): string {
  return `${name} ${foldName(seenText(text))}`;
}
