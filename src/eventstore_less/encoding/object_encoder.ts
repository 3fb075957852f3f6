/** The only JSON text of objects with a schema: their members in its order, and exact integers. */

import type { z } from "zod";

type Encode = (value: unknown) => string;

/**
 * Returns the function that makes the text of an object. Leaves out members that the schema or the object does not
 * have. Objects in lists, records and unions must have the order of the schema already, as after `parse()`.
 */
export function objectEncoder(schema: z.core.$ZodObject): (object: object) => string {
  const members = Object.entries<z.core.$ZodType>(schema._zod.def.shape).map(([name, member]) => {
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
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "nonoptional":
    case "readonly":
      return encoderOf(def.innerType);
    case "object": {
      const encode = objectEncoder(schema as z.core.$ZodObject);
      return (value) => value === null ? "null" : encode(value as object);
    }
    default:
      return encodeValue;
  }
}

function encodeValue(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(encodeValue).join()}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${encodeValue(member)}`);
  return `{${texts.join()}}`;
}
