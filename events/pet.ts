/** An animal: its fields, and what follows from them. */

import { objectEncoder } from "eventstore-less/encoding";
import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import { z } from "zod";

/** Longest `name`, in Unicode code points. */
export const NAME_MAX_LENGTH = 1_000;

/** Longest `note`, in Unicode code points. */
export const NOTE_MAX_LENGTH = 2_000;

export const PET_STATUSES = ["available", "pending", "sold"] as const;

/** The release that added a status, for example `{ reserved: "6.1" }`. The statuses of version 1 have none. */
const RELEASE_OF_STATUS: Partial<Record<PetStatus, string>> = {};

export const PetStatus = z.enum(PET_STATUSES, {
  error: `must be one of ${PET_STATUSES.join(", ")}`,
}).meta({ description: "The availability of the animal" });
export type PetStatus = z.infer<typeof PetStatus>;

interface PetField {
  /** The only check of the field, in requests and in lines of the log. Integers are those of `parseExactJson()`. */
  schema: z.ZodType<string | bigint | boolean | undefined>;
  /** The release that added the field; absent if version 1 had it. A line with the field names that release. */
  release?: string;
  /** If only events set the field, clients read it, and a request that names it is refused. */
  setBy?: "events";
  /** Whether people write the field, so that it can hold personal data, which `restore --redact` replaces. */
  isPersonal?: true;
}

/**
 * The only list of a pet's fields, in the order of their JSON text. A new field comes last and must be optional, because
 * the lines of the log do not change.
 */
const FIELDS = {
  name: { schema: text(NAME_MAX_LENGTH, "The animal's name"), isPersonal: true },
  categoryId: { schema: int64("The category that the animal belongs to") },
  status: { schema: PetStatus.optional() },
  note: {
    schema: text(NOTE_MAX_LENGTH, "A note for people, which may have several lines").optional(),
    release: "7.0",
    isPersonal: true,
  },
} satisfies Record<string, PetField>;

type Fields = typeof FIELDS;

/** The schemas of all fields. */
type Shape = { [Name in keyof Fields]: Fields[Name]["schema"] };

/** The schemas of the fields that clients set. */
type NewShape = {
  [Name in keyof Fields as Fields[Name] extends { setBy: "events" } ? never : Name]: Shape[Name];
};

const ENTRIES = Object.entries<PetField>(FIELDS);

export const PET_FIELDS = Object.keys(FIELDS) as (keyof Fields)[];

/** The fields that can hold personal data. */
export const PERSONAL_PET_FIELDS = PET_FIELDS.filter((name) =>
  (FIELDS[name] as PetField).isPersonal
);

/** An animal as clients send it. See section 2 of the interface. */
export const NewPet = z.strictObject(
  shapeOf(ENTRIES.filter(([, { setBy }]) => setBy === undefined)) as NewShape,
);
export type NewPet = z.infer<typeof NewPet>;

/** An animal with the identifier given by the service: 1, 2, 3 …, always a safe integer in JSON. */
export const Pet = z.strictObject({
  id: z.bigint().min(1n).max(BigInt(Number.MAX_SAFE_INTEGER))
    .meta({ description: "The animal's identifier, given by the service" })
    .transform(Number),
  ...shapeOf(ENTRIES) as Shape,
});
export type Pet = z.infer<typeof Pet>;

/** A JSON Merge Patch (RFC 7396) of a pet by a client. `null` removes a field that a pet need not have. */
export const PetPatch = patchOf(NewPet);
export type PetPatch = z.infer<typeof PetPatch>;

/** The former values of the fields that a change of a pet has changed; `null` if the pet did not have the field. */
export const FormerValues = patchOf(Pet.omit({ id: true }));
export type FormerValues = z.infer<typeof FormerValues>;

function shapeOf(entries: [name: string, PetField][]): z.ZodRawShape {
  return Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]));
}

type PatchShape<Values> = {
  [Name in keyof Values]-?: z.ZodOptional<z.ZodNullable<z.ZodType<Values[Name]>>>;
};

function patchOf<Of extends z.ZodObject>({ shape }: Of) {
  const patched = Object.entries<z.ZodType>(shape).map(([name, field]) => {
    // Not unwrapped, because the optional schema may have a refinement of its own.
    const nullable = field instanceof z.ZodOptional ? field.nullable() : field;
    return [name, nullable.optional()];
  });
  return z.strictObject(Object.fromEntries(patched) as PatchShape<z.infer<Of>>);
}

export function patchPet(pet: Pet, patch: FormerValues): Pet {
  const fields = Object.entries({ ...pet, ...patch });
  return Object.fromEntries(fields.filter(([, value]) => (value ?? null) !== null)) as Pet;
}

/** The former values of the fields that differ, with which `patchPet()` leads from the pet `after` back to `before`. */
export function formerValuesOf(before: Pet, after: Pet): FormerValues {
  const changed = PET_FIELDS.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}

/** The releases that have added a field or a status. */
export const PET_RELEASES: readonly string[] = [
  ...new Set([
    ...ENTRIES.flatMap(([, { release }]) => release ?? []),
    ...Object.values(RELEASE_OF_STATUS),
  ]),
];

/** Whether a pet, or former values of it, have what a release added: one of its fields, or its status. */
export function needsRelease(release: string, values: Pet | FormerValues): boolean {
  const hasField = PET_FIELDS.some((name) => {
    return values[name] !== undefined && (FIELDS[name] as PetField).release === release;
  });
  return hasField || RELEASE_OF_STATUS[values.status!] === release;
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

/** A text of 1 to so many code points, in well-formed Unicode. */
export function text(maxLength: number, description: string): z.ZodString {
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

export function int64(description: string): z.ZodBigInt {
  return z.bigint({ error: `must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
    .min(INT64_MIN)
    .max(INT64_MAX)
    .meta({ description });
}
