/**
 * The fields of an animal: the only list of them in the window. The list, the forms, the history, the import and the
 * export are made from it, so a new field is one entry here. `animal/field_views.tsx` draws them.
 */

import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import type { NewPet, Pet, PetStatus } from "../../../events/pet.ts";
import type { CsvCell } from "../../encoding/csv_line.ts";
import { categoriesWithName, nameOfCategory } from "./categories.ts";
import { isBlank } from "../parts/blank.ts";
import { grouped } from "../parts/count_words.ts";
import { isRoundedNumber } from "../csv/rounded_number.ts";
import { seenText } from "../parts/seen_text.ts";

export type FieldName = Exclude<keyof Pet, "id">;

/** The outcome of reading a typed text: a value, which is `undefined` for an absent one, or a fault in words. */
type Parsed<Value> = { isSound: true; value: Value } | { isSound: false; fault: string };

export interface Field<Value> extends FieldEntry<Value> {
  readonly isRequired: boolean;
  /** Whether only events set it: then no form and no import has it. */
  readonly isReadOnly: boolean;
  /** Whether it is an integer of 64 bits: a `bigint`. */
  readonly isNumber: boolean;
  /** Whether it may be long and have lines: a list shows its first one, if there is room for columns. */
  readonly isLong: boolean;
  /** Further titles of CSV columns with the field, besides its name and label: small letters without accents. */
  readonly headings: readonly string[];
  /** The texts that may be chosen; `undefined` if people type what they like. */
  readonly choices: readonly LabelledText[] | undefined;
  /** The value in an export, from which an import reads the same value. */
  cellOf(value: Value | undefined): CsvCell;
  /** The event in words when the animal got the value, after its name: for example "was sold". */
  sentence(value: Value | undefined): string;
  /** The same of several animals, if it is worth a sentence: for example "were sold". */
  sentenceOfSeveral(value: Value | undefined): string | undefined;
  /** The value in a description of the animal, after its name: for example "category 7". */
  inWords(value: Value | undefined): string | undefined;
}

/** A text that may be chosen, and how people see it. */
export interface LabelledText {
  readonly text: string;
  readonly label: string;
}

/** The members that each field names itself. The rest of {@linkcode Field} has defaults. */
interface FieldEntry<Value> {
  readonly name: FieldName;
  readonly label: string;
  /** The value as a control has it. */
  textOf(value: Value | undefined): string;
  /** Reads a text that was typed, or that a cell has. Blanks around it do not count. */
  parse(text: string): Parsed<Value>;
}

function fieldOf<Value>(entry: FieldEntry<Value> & Partial<Field<Value>>): Field<Value> {
  const { label, textOf } = entry;
  const word = label.toLowerCase();
  return {
    isRequired: false,
    isReadOnly: false,
    isNumber: false,
    isLong: false,
    headings: [],
    choices: undefined,
    cellOf: (value) => typeof value === "bigint" ? value : textOf(value),
    sentence: (value) => value === undefined ? `lost its ${word}` : `got ${word} ${textOf(value)}`,
    sentenceOfSeveral: () => undefined,
    inWords: (value) => value === undefined ? undefined : `${word} ${textOf(value)}`,
    ...entry,
  };
}

/** Maxima of the interface, in Unicode code points. */
const ANIMAL_NAME_MAX_LENGTH = 1_000;
const NOTE_MAX_LENGTH = 2_000;
/** Longer texts are too large, however many zeros they begin with. */
const NUMBER_MAX_LENGTH = 100;
/** Programs that calculate write 7 as `7.0`, or as `7,0` where people write a decimal comma. */
const WHOLE_NUMBER = /^([+-]?)(\d+)(?:\.0+|,00?)?$/;

/** Longest first line of a note in a list or a sentence, in Unicode code points. */
const LONGEST_LINE = 100;

const LINE_BREAK = /\r\n?|\n/g;

interface StatusWords {
  label: string;
  sentence: string;
  sentenceOfSeveral: string;
}

const STATUSES: Readonly<Record<PetStatus, StatusWords>> = {
  available: {
    label: "Available",
    sentence: "became available",
    sentenceOfSeveral: "became available",
  },
  pending: { label: "Pending", sentence: "became pending", sentenceOfSeveral: "became pending" },
  sold: { label: "Sold", sentence: "was sold", sentenceOfSeveral: "were sold" },
};
const NO_STATUS: StatusWords = {
  label: "No status",
  sentence: "lost its status",
  sentenceOfSeveral: "lost their status",
};

export const STATUS_NAMES = Object.keys(STATUSES) as PetStatus[];

export function statusLabel(status: PetStatus | undefined): string {
  return statusWords(status).label;
}

/** The event in words when that many animals got the status, after their number: for example "were sold". */
export function statusInSentence(status: PetStatus | undefined, count: number): string {
  const { sentence, sentenceOfSeveral } = statusWords(status);
  return count === 1 ? sentence : sentenceOfSeveral;
}

/** The labels of all statuses: for example "Available or Sold". */
const STATUS_WORDS = new Intl.ListFormat("en-GB", { type: "disjunction" })
  .format(STATUS_NAMES.map(statusLabel));

function statusWords(status: PetStatus | undefined): StatusWords {
  return status === undefined ? NO_STATUS : STATUSES[status];
}

/** The texts of a choice of status, each with its label. The text of an absent status is "". */
export const STATUS_CHOICES: readonly LabelledText[] = [...STATUS_NAMES, undefined].map((
  status,
) => ({
  text: status ?? "",
  label: statusLabel(status),
}));

/** The status that the text of a choice means. */
export function statusOf(text: string): PetStatus | undefined {
  return STATUS_NAMES.find((status) => status === text);
}

const name = fieldOf<string>({
  name: "name",
  label: "Name",
  isRequired: true,
  // A French file may have numbers in the column that a Spanish one has for names.
  headings: ["tiername", "rufname", "nom", "nomdelanimal", "nombredelanimal", "nombre"],
  textOf: (value = "") => value,
  parse(text) {
    const value = text.trim();
    if (value === "") return faulty("Name is missing");
    if (isBlank(value)) return faulty("Name has no visible character");
    if (!value.isWellFormed()) return faulty("Name has a broken character");
    if (isLongerThan(value, ANIMAL_NAME_MAX_LENGTH)) {
      return faulty(`Name has more than ${grouped(ANIMAL_NAME_MAX_LENGTH)} characters`);
    }
    return sound(value);
  },
  sentence: (value = "") => `was renamed ${value}`,
  inWords: () => undefined,
});

const categoryId = fieldOf<bigint>({
  name: "categoryId",
  label: "Category",
  isRequired: true,
  isNumber: true,
  headings: [
    ...["categoryno", "categorynumber", "categoryname"],
    ...["kategorie", "tierkategorie", "tierart", "categorie", "espece", "categoria", "especie"],
  ],
  textOf: (value) => value === undefined ? "" : String(value),
  parse: parseCategory,
  cellOf: (value) => value === undefined ? "" : nameThatMeans(value) ?? value,
  sentence: (value) =>
    value === undefined ? "lost its category" : `moved to ${wordsOfCategory(value)}`,
  inWords: (value) => value === undefined ? undefined : wordsOfCategory(value),
});

/** A category in a sentence: its name or, without one, its id. A number after the name would read as a count. */
function wordsOfCategory(id: bigint): string {
  return nameOfCategory(id) ?? `category ${id}`;
}

/** A category may be written as its id or its name. A number is an id. */
function parseCategory(text: string): Parsed<bigint> {
  const trimmed = seenText(text);
  if (trimmed === "") return faulty("Category is missing");
  if (isRoundedNumber(trimmed)) {
    return faulty(`Category is a number that a spreadsheet has rounded: ${trimmed}`);
  }
  const match = WHOLE_NUMBER.exec(trimmed);
  if (match === null) return parseCategoryName(trimmed);
  const [, sign, digits] = match;
  const limit = sign === "-" ? -INT64_MIN : INT64_MAX;
  const isTooLong = digits.length > NUMBER_MAX_LENGTH;
  const isOutside = isTooLong || BigInt(digits) > limit;
  if (isOutside) return faulty(`Category is too ${sign === "-" ? "small" : "large"}`);
  return sound(BigInt(digits) * (sign === "-" ? -1n : 1n));
}

function parseCategoryName(text: string): Parsed<bigint> {
  const [id, ...twins] = categoriesWithName(text);
  if (id === undefined) return faulty(`There is no category “${text}”`);
  if (twins.length > 0) return faulty(`Several categories have the name “${text}”: write the id`);
  return sound(id);
}

/** The name of a category, unless it has none, or the name means another one, as 10 does. */
function nameThatMeans(id: bigint): string | undefined {
  const name = nameOfCategory(id) ?? "";
  const parsed = parseCategory(name);
  return parsed.isSound && parsed.value === id ? name : undefined;
}

const status = fieldOf<PetStatus | undefined>({
  name: "status",
  label: "Status",
  headings: [
    ...["availability", "verfugbarkeit", "verfuegbarkeit"],
    ...["statut", "etat", "disponibilite", "estado", "estatus", "disponibilidad"],
  ],
  choices: STATUS_CHOICES,
  textOf: (value) => value ?? "",
  /** A status may be written as the page shows it. */
  parse(text) {
    const word = seenText(text).toLowerCase();
    const isAbsent = word === "" || word === NO_STATUS.label.toLowerCase();
    if (isAbsent) return sound(undefined);
    const found = STATUS_NAMES.find((it) => word === it || word === statusLabel(it).toLowerCase());
    if (found !== undefined) return sound(found);
    return faulty(`Status must be ${STATUS_WORDS}`);
  },
  sentence: (value) => statusWords(value).sentence,
  sentenceOfSeveral: (value) => statusWords(value).sentenceOfSeveral,
  inWords: (value) => statusLabel(value).toLowerCase(),
});

const note = fieldOf<string | undefined>({
  name: "note",
  label: "Note",
  isLong: true,
  headings: [
    "notes",
    "comment",
    "remark",
    "notiz",
    "bemerkung",
    "kommentar",
    "remarque",
    "commentaire",
    "nota",
  ],
  textOf: (value = "") => withPlainBreaks(value),
  parse(text) {
    const value = withPlainBreaks(text).trim();
    if (isBlank(value)) return sound(undefined);
    if (!value.isWellFormed()) return faulty("Note has a broken character");
    if (isLongerThan(value, NOTE_MAX_LENGTH)) {
      return faulty(`Note has more than ${grouped(NOTE_MAX_LENGTH)} characters`);
    }
    return sound(value);
  },
  sentence: (value) =>
    value === undefined ? "lost its note" : `got the note “${firstLineOf(value)}”`,
  inWords: (value) => value === undefined ? undefined : `note “${firstLineOf(value)}”`,
});

/** The text with the line breaks that a control of a browser has. */
export function withPlainBreaks(text: string): string {
  return text.replaceAll(LINE_BREAK, "\n");
}

/** The first line of a note, or its beginning, with a sign that more follows. */
export function firstLineOf(note: string): string {
  const [first, ...others] = note.trim().split(LINE_BREAK);
  const shown = [...first].slice(0, LONGEST_LINE).join("");
  const isWhole = others.length === 0 && shown.length === first.length;
  return isWhole ? shown : `${shown} …`;
}

/** Every field of {@linkcode Pet}: the compiler names one that has no entry. */
const FIELDS_BY_NAME: { readonly [Name in FieldName]-?: Field<Pet[Name]> } = {
  name,
  categoryId,
  status,
  note,
};

/** A field with values of an unknown type. Its methods accept only values that its methods have returned. */
export type AnyField = Field<unknown>;

/** All fields, in the order in which the window shows them. */
export const FIELDS: readonly AnyField[] = Object.values(FIELDS_BY_NAME) as AnyField[];

/** The fields of which a list of animals has columns, after that of the name. */
export const FIELDS_BESIDE_NAME: readonly AnyField[] = FIELDS.filter(({ name }) => name !== "name");

/** A field that people set, in forms and by imports. */
export type EditableField = AnyField & { readonly name: keyof NewPet };

export const EDITABLE_FIELDS = FIELDS.filter(({ isReadOnly }) => !isReadOnly) as EditableField[];

/** An animal, or a part of one. */
type Values = Partial<Record<FieldName, unknown>>;

/** Typed texts by their fields. A form or a CSV file may have only some of the fields. */
export type Texts = Partial<Record<FieldName, string>>;

/** Faults in words by their fields. */
export type Faults = Partial<Record<FieldName, string>>;

/** A change of an animal: `null` removes a field. */
export type Patch = { [Name in FieldName]?: Pet[Name] | null };

export function textsOf(pet: Values): Required<Texts> {
  const entries = EDITABLE_FIELDS.map((it) => [it.name, it.textOf(pet[it.name])]);
  return Object.fromEntries(entries);
}

/** Reads the texts of a new animal. A field without a text is empty. */
export function parsePet(
  texts: Texts,
): { isSound: true; pet: NewPet } | { isSound: false; faults: Faults } {
  const { values, faults } = parseTexts(EDITABLE_FIELDS, texts);
  if (Object.keys(faults).length > 0) return { isSound: false, faults };
  return { isSound: true, pet: values as NewPet };
}

/**
 * Reads the texts of a change of `pet`. A text that is still that of the animal changes nothing, also if it would be
 * refused from a new animal.
 */
export function parseChange(
  pet: Values,
  texts: Texts,
): { isSound: true; patch: Patch } | { isSound: false; faults: Faults } {
  const changed = EDITABLE_FIELDS.filter((it) => {
    const text = texts[it.name];
    return text !== undefined && text.trim() !== it.textOf(pet[it.name]).trim();
  });
  const { values, faults } = parseTexts(changed, texts);
  if (Object.keys(faults).length > 0) return { isSound: false, faults };
  const differing = changed.filter(({ name }) => values[name] !== pet[name]);
  const patch = Object.fromEntries(differing.map(({ name }) => [name, values[name] ?? null]));
  return { isSound: true, patch };
}

function parseTexts(
  fields: readonly AnyField[],
  texts: Texts,
): { values: Values; faults: Faults } {
  const values: Values = {};
  const faults: Faults = {};
  for (const field of fields) {
    const parsed = field.parse(texts[field.name] ?? "");
    if (parsed.isSound) values[field.name] = parsed.value;
    else faults[field.name] = parsed.fault;
  }
  return { values, faults };
}

/** An animal or a change as JSON text. Categories are integers that may exceed those of JavaScript. */
export function formatPet(fields: Values): string {
  const members = FIELDS
    .filter(({ name }) => fields[name] !== undefined)
    .map(({ name }) => `"${name}":${formatValue(fields[name])}`);
  return `{${members.join()}}`;
}

function formatValue(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

/** An animal in words, without its identifier and its name. */
export function describePet(pet: Values): string {
  const parts = FIELDS.map((it) => it.inWords(pet[it.name]));
  return parts.filter((part) => part !== undefined).join(", ");
}

/** The fields of an animal that a change has changed, each with its value before and after. */
export function differencesOf(
  after: Values,
  previous: Values,
): { field: AnyField; before: unknown; after: unknown }[] {
  return FIELDS
    .filter(({ name }) => Object.hasOwn(previous, name))
    .map((field) => ({
      field,
      before: previous[field.name] ?? undefined,
      after: after[field.name],
    }));
}

/** The faults that an error of the interface names, by their fields. */
export function faultsOfError({ code, message }: { code?: string; message: string }): Faults {
  const faults: Faults = {};
  if (code !== "invalid_body") return faults;
  for (const part of message.split("; ")) {
    const [, name, fault] = /^Field "(\w+)" (.+)$/.exec(part) ?? [];
    const field = FIELDS.find((it) => it.name === name);
    if (field !== undefined) faults[field.name] = `${field.label} ${fault}`;
  }
  return faults;
}

/** The message of an error for people, who do not know the names of the fields. */
export function messageOf({ message }: { message: string }): string {
  return message.replaceAll(/(?:Field )?"(\w+)"|\b[a-z]+[A-Z]\w+\b/g, (found, quoted = found) => {
    const field = FIELDS.find((it) => it.name === quoted);
    return field?.label ?? found;
  });
}

function sound<Value>(value: Value): Parsed<Value> {
  return { isSound: true, value };
}

function faulty(fault: string): { isSound: false; fault: string } {
  return { isSound: false, fault };
}

/** A character outside of the first 65,536 has two code units. */
function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && [...text].length > limit;
}
