/** The parts of the description that have a name of their own. Wherever one is used, its JSON is a reference to it. */

import type { z } from "zod";

export class Component {
  readonly kind: "schemas" | "parameters" | "headers";
  readonly name: string;
  /** A zod schema, or the JSON of a parameter or a header. */
  readonly value: object;
  /** Components that only its value refers to. */
  readonly inner: readonly Component[];

  constructor(
    kind: Component["kind"],
    name: string,
    value: object,
    inner: readonly Component[] = [],
  ) {
    this.kind = kind;
    this.name = name;
    this.value = value;
    this.inner = inner;
  }

  toJSON(): { $ref: string } {
    return { $ref: `#/components/${this.kind}/${this.name}` };
  }
}

/** Clients get a type of this name. */
export function schemaComponent(
  name: string,
  schema: z.ZodType,
  inner: readonly Component[] = [],
): Component {
  return new Component("schemas", name, schema, inner);
}

/** A body with the same schema and example in each of the media types. */
export function content(
  schema: object,
  example: unknown,
  types: readonly string[] = ["application/json"],
): Record<string, { schema: object; example: unknown }> {
  return Object.fromEntries(types.map((type) => [type, { schema, example }]));
}

export function arrayOf(items: Component, maxItems: number) {
  return { type: "array", items, maxItems };
}
