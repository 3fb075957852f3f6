/**
 * An animal as clients send it (NewPet) and as the service returns it (Pet). See section 2 of the interface.
 */

import { z } from "zod";
import { type Field, int64, oneOf, optional, text } from "./field.ts";

/** Longest `name`, in Unicode code points. */
export const NAME_MAX_LENGTH = 1_000;

export const PET_STATUSES = ["available", "pending", "sold"] as const;

export const PetStatus = z.enum(PET_STATUSES, {
  error: `must be one of ${PET_STATUSES.join(", ")}`,
}).meta({ description: "The availability of the animal" });
export type PetStatus = z.infer<typeof PetStatus>;

/**
 * The only definition of a pet's fields, in the order of their JSON text. A new field must be optional,
 * because the lines of the log do not change.
 */
const FIELDS = {
  name: text(NAME_MAX_LENGTH, "The animal's name"),
  categoryId: int64("The category that the animal belongs to"),
  status: optional(oneOf(PetStatus)),
};

/** The data that a client sends to add an animal, parsed with {@linkcode parseExactJson}. */
export const NewPet = z.strictObject(schemasOf(FIELDS));
export type NewPet = z.infer<typeof NewPet>;

/** An animal with the identifier given by the service: 1, 2, 3 …, always a safe integer in JSON. */
export const Pet = NewPet.extend({
  id: z.bigint().min(1n).max(BigInt(Number.MAX_SAFE_INTEGER))
    .meta({ description: "The animal's identifier, given by the service" })
    .transform(Number),
});
export type Pet = z.infer<typeof Pet>;

/** The fields in the form that {@linkcode encodePet} and {@linkcode decodePet} use. */
const MEMBERS = Object.entries<Field>(FIELDS).map(([name, field]) => ({
  ...field,
  name: name as keyof NewPet,
  prefix: `,"${name}":`,
  isOptional: field.schema instanceof z.ZodOptional,
}));

/**
 * The only JSON text of a pet: it is stored in the log and the projections, and returned to clients. Equal pets
 * have equal text.
 */
export function encodePet(pet: Pet): string {
  let text = `{"id":${pet.id}`;
  for (const { name, prefix, encode } of MEMBERS) {
    const value = pet[name];
    if (value !== undefined) text += prefix + encode(value);
  }
  return `${text}}`;
}

const PET_TEXT = new RegExp(
  `^{"id":([1-9]\\d{0,15})${
    MEMBERS.map(({ prefix, pattern, isOptional }) =>
      isOptional ? `(?:${prefix}(${pattern}))?` : `${prefix}(${pattern})`
    ).join("")
  }}$`,
  "s",
);

/**
 * Decodes a text that {@linkcode encodePet} could have written. Returns `undefined` for any other text;
 * {@linkcode Pet} can then explain what is wrong.
 */
export function decodePet(text: string): Pet | undefined {
  const match = PET_TEXT.exec(text);
  if (match === null) return undefined;
  const id = Number(match[1]);
  if (!Number.isSafeInteger(id)) return undefined;
  const pet: Record<string, unknown> = { id };
  for (const [index, { name, decode }] of MEMBERS.entries()) {
    const part = match[index + 2];
    if (part === undefined) continue;
    const value = decode(part);
    if (value === undefined) return undefined;
    pet[name] = value;
  }
  return pet as Pet;
}

/**
 * Whether the text of a pet has that status. The test is exact, because a quotation mark within a string is
 * escaped.
 */
export function hasStatus(petText: string, status: PetStatus): boolean {
  return petText.includes(`,"status":"${status}"`);
}

const ID_START = new TextEncoder().encode('{"id":');
const ZERO = 0x30;

/**
 * The id in a pet's text in UTF-8; `NaN` if it does not begin with one. The rest of the text is not checked.
 */
export function petIdOf(text: Uint8Array): number {
  for (let index = 0; index < ID_START.length; index++) {
    if (text[index] !== ID_START[index]) return NaN;
  }
  let id = 0;
  let index = ID_START.length;
  for (; text[index] >= ZERO && text[index] <= ZERO + 9; index++) id = id * 10 + text[index] - ZERO;
  return id > 0 && Number.isSafeInteger(id) ? id : NaN;
}

function schemasOf<Fields extends Record<string, Field>>(fields: Fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as { [Name in keyof Fields]: Fields[Name]["schema"] };
}
