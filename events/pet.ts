/**
 * An animal as clients send it (NewPet) and as the service returns it (Pet). See section 2 of the interface.
 */

import { z } from "zod";
import { INT64_MAX, INT64_MIN, isInt64 } from "./int64.ts";

/** Longest `name`, in Unicode code points. */
export const NAME_MAX_LENGTH = 1_000;

export const PET_STATUSES = ["available", "pending", "sold"] as const;

export const PetStatus = z.enum(PET_STATUSES, {
  error: `must be one of ${PET_STATUSES.join(", ")}`,
}).meta({ description: "The availability of the animal" });
export type PetStatus = z.infer<typeof PetStatus>;

const PetName = z.string({ error: "must be a string" })
  .refine((name) => name.isWellFormed(), "must be well-formed Unicode, without a lone surrogate")
  .refine(hasNameLength, `must be 1 to ${NAME_MAX_LENGTH} characters long`)
  // For the JSON Schema, which also counts lengths in code points.
  .meta({ minLength: 1, maxLength: NAME_MAX_LENGTH, description: "The animal's name" });

const Int64 = z.bigint({ error: `must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
  .min(INT64_MIN)
  .max(INT64_MAX);

/** The data that a client sends to add an animal, parsed with {@linkcode parseExactJson}. */
export const NewPet = z.strictObject({
  name: PetName,
  categoryId: Int64.meta({ description: "The category that the animal belongs to" }),
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

/** The only JSON text of a pet: it is stored in the log and the projections, and returned to clients. */
export function encodePet(pet: Pet): string {
  return `{"id":${pet.id},${newPetMembers(pet)}}`;
}

/** The members of a NewPet as JSON text in a fixed order, so that equal pets have equal text. */
export function newPetMembers(pet: NewPet): string {
  const members = `"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}`;
  return pet.status === undefined ? members : `${members},"status":"${pet.status}"`;
}

/**
 * Decodes a text that {@linkcode encodePet} could have written. Returns `undefined` for any other text;
 * {@linkcode Pet} can then explain what is wrong. Uses a pattern, not a schema, because the log is long.
 */
export function decodePet(text: string): Pet | undefined {
  const parts = PET_TEXT.exec(text);
  if (parts === null) return undefined;
  const [, id, nameText, categoryId, status] = parts;
  const name = parseString(nameText);
  if (name === undefined || !name.isWellFormed() || !hasNameLength(name)) return undefined;
  const pet: Pet = { name, categoryId: BigInt(categoryId), id: Number(id) };
  if (status !== undefined) pet.status = status as PetStatus;
  if (!Number.isSafeInteger(pet.id) || !isInt64(pet.categoryId)) return undefined;
  return encodePet(pet) === text ? pet : undefined;
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

const PET_TEXT = new RegExp(
  `^{"id":([1-9]\\d*),"name":(".*"),"categoryId":(-?\\d{1,19})` +
    `(?:,"status":"(${PET_STATUSES.join("|")})")?}$`,
  "s",
);

function parseString(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasNameLength(name: string): boolean {
  if (name.length <= NAME_MAX_LENGTH) return name.length > 0;
  if (name.length > 2 * NAME_MAX_LENGTH) return false;
  return [...name].length <= NAME_MAX_LENGTH;
}
