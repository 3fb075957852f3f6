/** The only JSON text of objects with a schema: their members in its order, and exact integers. */

import { z } from "zod";

type Encode = (value: unknown) => string;

/**
 * Returns the function that makes the text of an object. Leaves out members that the schema or the object does not
 * have.
 */
export function objectEncoder(schema: z.ZodObject): (object: object) => string {
  const members = Object.entries<z.core.$ZodType>(schema.shape).map(([name, member]) => {
    return { name, label: `${JSON.stringify(name)}:`, encode: encoderOf(member) };
  });
  return (object) => {
    const values = object as Record<string, unknown>;
    let text = "";
    for (const { name, label, encode } of members) {
      const value = values[name];
      if (value === undefined) continue;
      const separator = text === "" ? "" : ",";
      text += separator + label + encode(value);
    }
    return `{${text}}`;
  };
}

function encoderOf(schema: z.core.$ZodType): Encode {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return encoderOf(schema.unwrap());
  }
  if (!(schema instanceof z.ZodObject)) return encodeValue;
  const encode = objectEncoder(schema);
  return (value) => value === null ? "null" : encode(value as object);
}

/** Throws `TypeError` at a list or an object that contains a `bigint`. */
function encodeValue(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}
