/** An animal as clients send it (NewPet) and as the service returns it (Pet). See section 2 of the interface. */

import { z } from "zod";
import { INT64_MAX, INT64_MIN } from "../src/encoding/int64.ts";
import { objectEncoder } from "../src/encoding/object_encoder.ts";

/** Longest `name`, in Unicode code points. */
export const NAME_MAX_LENGTH = 1_000;

/** The release that added a field, by the schema of the field. The fields of version 1 have none. */
const RELEASE_OF_FIELD = new Map<z.ZodType, string>();

/** Declares that a release, for example 6.1, has added the field. A line with the field names that release. */
export function addedIn<Schema extends z.ZodType>(release: string, field: Schema): Schema {
  RELEASE_OF_FIELD.set(field, release);
  return field;
}

export const PET_STATUSES = ["available", "pending", "sold"] as const;

/** The release that added a status, for example `{ reserved: "6.1" }`. The statuses of version 1 have none. */
const RELEASE_OF_STATUS: Partial<Record<PetStatus, string>> = {};

export const PetStatus = z.enum(PET_STATUSES, {
  error: `must be one of ${PET_STATUSES.join(", ")}`,
}).meta({ description: "The availability of the animal" });
export type PetStatus = z.infer<typeof PetStatus>;

/**
 * The only definition of a pet's fields, in the order of their JSON text, and their only check: of requests, and of the
 * lines of the log. Integers are those of `parseExactJson()`. A new field comes last and must be optional, because the
 * lines of the log do not change.
 */
export const NewPet = z.strictObject({
  name: text(NAME_MAX_LENGTH, "The animal's name"),
  categoryId: int64("The category that the animal belongs to"),
  status: PetStatus.optional(),
});
export type NewPet = z.infer<typeof NewPet>;

/** An animal with the identifier given by the service: 1, 2, 3 …, always a safe integer in JSON. */
export const Pet = z.strictObject({
  id: z.bigint().min(1n).max(BigInt(Number.MAX_SAFE_INTEGER))
    .meta({ description: "The animal's identifier, given by the service" })
    .transform(Number),
  ...NewPet.shape,
});
export type Pet = z.infer<typeof Pet>;

const FIELDS = Object.keys(NewPet.shape) as (keyof NewPet)[];

/** A JSON Merge Patch (RFC 7396) of a pet. `null` removes a field that NewPet need not have. */
export const PetPatch = z.strictObject(
  Object.fromEntries(
    Object.entries(NewPet.shape).map(([name, field]) => [
      name,
      // Not unwrapped, because a refinement may belong to what is optional.
      (field instanceof z.ZodOptional ? field.nullable() : field).optional(),
    ]),
  ),
) as unknown as z.ZodObject<PatchShape, z.core.$strict>;
export type PetPatch = z.infer<typeof PetPatch>;

type PatchShape = {
  [Name in keyof NewPet]-?: z.ZodOptional<z.ZodNullable<z.ZodType<NewPet[Name]>>>;
};

export function patchPet(pet: Pet, patch: PetPatch): Pet {
  const fields = Object.entries({ ...pet, ...patch });
  return Object.fromEntries(fields.filter(([, value]) => (value ?? null) !== null)) as Pet;
}

/** The patch that leads from the pet `after` back to `before`: the former values of the fields that differ. */
export function reversePatch(before: Pet, after: Pet): PetPatch {
  const changed = FIELDS.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}

/** The releases that have added a field or a status. */
export const PET_RELEASES: readonly string[] = [
  ...new Set([...RELEASE_OF_FIELD.values(), ...Object.values(RELEASE_OF_STATUS)]),
];

/** Whether a pet or a patch has what a release added: one of its fields, or its status. */
export function needsRelease(release: string, fields: NewPet | PetPatch): boolean {
  const hasField = FIELDS.some((name) => {
    return fields[name] !== undefined && RELEASE_OF_FIELD.get(NewPet.shape[name]) === release;
  });
  return hasField || RELEASE_OF_STATUS[fields.status!] === release;
}

/** The only JSON text of a pet, in the log, the projections and responses. Equal pets have equal text. */
export const encodePet: (pet: Pet) => string = objectEncoder(Pet);

/**
 * The category of the pet with that text, as a text. Several times as fast as the schema, and exact, because a string
 * contains no bare quotation mark.
 */
export function categoryIdIn(petText: string): string | undefined {
  return /,"categoryId":([^,}]*)/.exec(petText)?.[1];
}

/** The status of the pet with that text, found as {@linkcode categoryIdIn} does. */
export function statusIn(petText: string): PetStatus | undefined {
  return /,"status":"([^"]*)"/.exec(petText)?.[1] as PetStatus | undefined;
}

/** The name of the pet with that text. */
export function nameIn(petText: string): string {
  return JSON.parse(petText).name;
}

function text(maxLength: number, description: string): z.ZodString {
  const hasLength = (value: string) => {
    if (value.length <= maxLength) return value.length > 0;
    return value.length <= 2 * maxLength && [...value].length <= maxLength;
  };
  const isWellFormed = (value: string) => value.isWellFormed();
  return z.string({ error: "must be a string" })
    .refine(isWellFormed, "must be well-formed Unicode, without a lone surrogate")
    .refine(hasLength, `must be 1 to ${maxLength} characters long`)
    // For the JSON Schema, which also counts lengths in code points.
    .meta({ minLength: 1, maxLength, description });
}

function int64(description: string): z.ZodBigInt {
  return z.bigint({ error: `must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
    .min(INT64_MIN)
    .max(INT64_MAX)
    .meta({ description });
}
