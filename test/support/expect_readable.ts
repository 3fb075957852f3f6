import { objectEncoder } from "eventstore-less/encoding";
import { parseExactJson } from "eventstore-less/int64";
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { sampleValuesOf } from "./sample_values.ts";

/**
 * Expects that a schema reads each object back from its text, and that it only refuses values and changes none. Resolves to
 * the objects. Otherwise, what a request has stored could not be read.
 */
export function expectReadable(schema: z.ZodObject, place: string): object[] {
  return sampleValuesOf(schema, place).map((sample) => {
    const object = schema.parse(sample);
    const text = objectEncoder(schema)(object);
    const read = parseExactJson(text);
    assertEquals(read, sample, `${place} is stored as ${text}`);
    assertEquals(schema.parse(read), object, `${place} is stored as ${text}`);
    return object;
  });
}
