import type { z } from "zod";

/** The parts of a schema that have no names. */
interface Parts {
  shape?: Record<string, z.core.$ZodType>;
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
  items?: readonly z.core.$ZodType[];
  rest?: z.core.$ZodType | null;
}

/** The names of the members of all objects in a schema, which must not contain itself. */
export function* memberNames(schema: z.core.$ZodType): Generator<string> {
  const parts = schema._zod.def as Parts;
  const { shape = {}, options = [], items = [] } = parts;
  yield* Object.keys(shape);
  const single = [parts.innerType, parts.element, parts.valueType, parts.rest];
  for (const part of [...Object.values(shape), ...options, ...items, ...single]) {
    if (part) yield* memberNames(part);
  }
}
