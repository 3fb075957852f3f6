/**
 * The types of the fields of a flat JSON object. A field defines the schema of its values and their JSON text
 * together. Text is decoded without the schema, because the log is long.
 */

import { z } from "zod";
import { INT64_MAX, INT64_MIN, isInt64 } from "./int64.ts";

export interface Field<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** Matches the JSON text of every valid value, and possibly others. It has no capturing group. */
  pattern: string;
  encode: (value: NonNullable<z.infer<Schema>>) => string;
  /**
   * Decodes a text that matches {@linkcode pattern}. Returns `undefined` if {@linkcode encode} could not have
   * written it.
   */
  decode: (text: string) => NonNullable<z.infer<Schema>> | undefined;
}

/** Text of 1 to `maxLength` characters, counted in Unicode code points. */
export function text(maxLength: number, description: string): Field<z.ZodString> {
  const hasLength = (value: string) => {
    if (value.length <= maxLength) return value.length > 0;
    if (value.length > 2 * maxLength) return false;
    return [...value].length <= maxLength;
  };
  return {
    schema: z.string({ error: "must be a string" })
      .refine(
        (value) => value.isWellFormed(),
        "must be well-formed Unicode, without a lone surrogate",
      )
      .refine(hasLength, `must be 1 to ${maxLength} characters long`)
      // For the JSON Schema, which also counts lengths in code points.
      .meta({ minLength: 1, maxLength, description }),
    pattern: '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"',
    encode: JSON.stringify,
    decode(text) {
      const value = parseString(text);
      if (value === undefined || !value.isWellFormed() || !hasLength(value)) return undefined;
      return JSON.stringify(value) === text ? value : undefined;
    },
  };
}

/** A 64-bit integer. */
export function int64(description: string): Field<z.ZodBigInt> {
  return {
    schema: z.bigint({ error: `must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
      .min(INT64_MIN)
      .max(INT64_MAX)
      .meta({ description }),
    pattern: "0|-?[1-9]\\d{0,18}",
    encode: String,
    decode(text) {
      const value = BigInt(text);
      return isInt64(value) ? value : undefined;
    },
  };
}

/** One of the values of an enumeration, which are plain words. */
export function oneOf<Schema extends z.ZodEnum>(schema: Schema): Field<Schema> {
  return {
    schema,
    pattern: `"(?:${schema.options.join("|")})"`,
    encode: (value) => `"${value}"`,
    decode: (text) => text.slice(1, -1) as NonNullable<z.infer<Schema>>,
  };
}

/** A field that an object may lack. */
export function optional<Schema extends z.ZodType>(
  field: Field<Schema>,
): Field<z.ZodOptional<Schema>> {
  return { ...field, schema: field.schema.optional() };
}

function parseString(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
