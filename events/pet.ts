/**
 * An animal as clients send it (NewPet) and as the service returns it (Pet). See section 2 of the interface.
 */

import { z } from "zod";
import { INT64_MAX, INT64_MIN, parseExactJson } from "./int64.ts";

/** Longest `name`, in Unicode code points. */
export const NAME_MAX_LENGTH = 1_000;

export const PET_STATUSES = ["available", "pending", "sold"] as const;

export const PetStatus = z.enum(PET_STATUSES, {
  error: `must be one of ${PET_STATUSES.join(", ")}`,
}).meta({ description: "The availability of the animal" });
export type PetStatus = z.infer<typeof PetStatus>;

/**
 * The data that a client sends to add an animal, parsed with {@linkcode parseExactJson}. It is the only definition
 * of a pet's fields, in the order of their JSON text. A new field comes last and must be optional, because the lines
 * of the log do not change.
 */
export const NewPet = z.strictObject({
  name: text(NAME_MAX_LENGTH, "The animal's name"),
  categoryId: int64("The category that the animal belongs to"),
  status: PetStatus.optional(),
});
export type NewPet = z.infer<typeof NewPet>;

/** An animal with the identifier given by the service: 1, 2, 3 …, always a safe integer in JSON. */
export const Pet = NewPet.extend({
  id: z.bigint().min(1n).max(BigInt(Number.MAX_SAFE_INTEGER))
    .meta({ description: "The animal's identifier, given by the service" })
    .transform(Number),
});
export type Pet = z.infer<typeof Pet>;

const FIELDS = Object.keys(NewPet.shape) as (keyof NewPet)[];

/**
 * A JSON Merge Patch (RFC 7396) of a pet: new values of some fields. `null` removes a field that NewPet need not
 * have.
 */
export const PetPatch = z.strictObject(
  Object.fromEntries(
    Object.entries(NewPet.shape).map(([name, field]) => [
      name,
      (field instanceof z.ZodOptional ? field.unwrap().nullable() : field).optional(),
    ]),
  ),
) as unknown as z.ZodObject<PatchShape, z.core.$strict>;
export type PetPatch = z.infer<typeof PetPatch>;

type PatchShape = {
  [Name in keyof NewPet]-?: z.ZodOptional<z.ZodNullable<z.ZodType<NewPet[Name]>>>;
};

/** The pet after a patch. */
export function patchPet(pet: Pet, patch: PetPatch): Pet {
  const patched = Object.entries({ ...pet, ...patch }).filter(([, value]) =>
    (value ?? null) !== null
  );
  return Object.fromEntries(patched) as Pet;
}

/** The patch that leads from the pet `after` back to `before`: the former values of the fields that differ. */
export function reversePatch(before: Pet, after: Pet): PetPatch {
  const changed = FIELDS.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}

/** Number of fields of the first schema version of pets. Each later field has made a further version. */
const FIRST_FIELDS = 3;

/** The fields that versions 2, 3 … of the schema have added. */
export const ADDED_FIELDS: readonly string[] = FIELDS.slice(FIRST_FIELDS);

/**
 * The only JSON text of a pet: it is stored in the log and the projections, and returned to clients. Equal pets
 * have equal text.
 */
export function encodePet(pet: Pet): string {
  return `{"id":${pet.id}${encodeFields(pet)}}`;
}

/** The JSON text of a patch. */
export function encodePatch(patch: PetPatch): string {
  return `{${encodeFields(patch).slice(1)}}`;
}

/** The JSON members of all fields that are there, each after a comma. */
function encodeFields(fields: NewPet | PetPatch): string {
  let text = "";
  for (const name of FIELDS) {
    const value = fields[name];
    if (value === undefined) continue;
    text += `,"${name}":${typeof value === "bigint" ? value : JSON.stringify(value)}`;
  }
  return text;
}

/** Parses a text that {@linkcode encodePet} has written. */
export function decodePet(text: string): Pet {
  return Pet.parse(parseExactJson(text));
}

/** Whether the text of a pet has that status. It is exact, because a string contains no bare quotation mark. */
export function hasStatus(petText: string, status: PetStatus): boolean {
  return petText.includes(`,"status":"${status}"`);
}

const ID_START = new TextEncoder().encode('{"id":');
const ZERO = 0x30;

/** The id in a pet's text in UTF-8; `NaN` if it does not begin with one. The rest of the text is not checked. */
export function petIdOf(text: Uint8Array): number {
  for (let index = 0; index < ID_START.length; index++) {
    if (text[index] !== ID_START[index]) return NaN;
  }
  let id = 0;
  let index = ID_START.length;
  for (; text[index] >= ZERO && text[index] <= ZERO + 9; index++) id = id * 10 + text[index] - ZERO;
  return id > 0 && Number.isSafeInteger(id) ? id : NaN;
}

/** Text of 1 to `maxLength` characters, counted in Unicode code points. */
function text(maxLength: number, description: string): z.ZodString {
  const hasLength = (value: string) => {
    if (value.length <= maxLength) return value.length > 0;
    return value.length <= 2 * maxLength && [...value].length <= maxLength;
  };
  return z.string({ error: "must be a string" })
    .refine(
      (value) => value.isWellFormed(),
      "must be well-formed Unicode, without a lone surrogate",
    )
    .refine(hasLength, `must be 1 to ${maxLength} characters long`)
    // For the JSON Schema, which also counts lengths in code points.
    .meta({ minLength: 1, maxLength, description });
}

/** A 64-bit integer. */
function int64(description: string): z.ZodBigInt {
  return z.bigint({ error: `must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
    .min(INT64_MIN)
    .max(INT64_MAX)
    .meta({ description });
}
