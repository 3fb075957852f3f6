import type { z } from "zod";

/** The parts of a schema, by the members that zod has for them. */
interface Parts {
  shape?: Record<string, z.core.$ZodType>;
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
  items?: readonly z.core.$ZodType[];
  rest?: z.core.$ZodType | null;
  in?: z.core.$ZodType;
}

/** The members of all objects in a schema, which must not contain itself. */
export function* schemaMembers(
  schema: z.core.$ZodType,
): Generator<[name: string, member: z.core.$ZodType]> {
  const { shape = {} } = schema._zod.def as Parts;
  yield* Object.entries(shape);
  for (const part of [...Object.values(shape), ...partsWithoutName(schema)]) {
    yield* schemaMembers(part);
  }
}

/** The schemas of the texts that are the value, or in its lists. */
export function* schemasOfTexts(schema: z.core.$ZodType): Generator<z.core.$ZodType> {
  const { type } = schema._zod.def;
  if (["string", "enum", "literal", "template_literal"].includes(type)) yield schema;
  else if (type !== "record") {
    for (const part of partsWithoutName(schema)) yield* schemasOfTexts(part);
  }
}

function partsWithoutName(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { options = [], items = [], ...parts } = schema._zod.def as Parts;
  const single = [parts.innerType, parts.element, parts.valueType, parts.rest, parts.in];
  return [...options, ...items, ...single].filter((part) => part !== null && part !== undefined);
}
