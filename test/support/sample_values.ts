/** Values that schemas accept, made from the schemas alone. */

import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import { z } from "zod";

/** Texts of each form that the schemas ask for. The first ones are hard to keep. */
const TEXTS = [
  ...['","name":"x"} \\ 🐈\u2028', " a ", "a", "ab", "abcd", "https://animals.example/1"],
  ...[
    "2024-02-29",
    "2026-01-02T03:04:05.678Z",
    "01HZZZZZZZ0000000000000001",
    "0123456789abcdef".repeat(4),
  ],
];

const INTEGERS = [2n ** 62n + 1n, INT64_MAX, INT64_MIN, BigInt(Number.MAX_SAFE_INTEGER)];

/** Values of one part. A schema that converts values accepts some of them that it should refuse. */
const VALUES = [...TEXTS, ...INTEGERS, 0n, 1n, 2n, -1n, 2_000n, true, false, null];

/**
 * Values of a schema as `parseExactJson()` gives them: the first one has all members, and each other one differs in one.
 * Throws an error with the place of a schema that accepts none of those that can be made.
 */
export function sampleValuesOf(schema: z.core.$ZodType, place: string): unknown[] {
  const found = new Set([...examplesOf(schema), ...candidatesOf(schema, place), ...VALUES]);
  const accepted = [...found].filter((value) => z.safeParse(schema, value).success);
  if (accepted.length > 0) return accepted;
  throw new Error(`${place} accepts no sample: give it one by .meta({ examples: [value] })`);
}

function examplesOf(schema: z.core.$ZodType): unknown[] {
  const examples = z.globalRegistry.get(schema)?.examples as unknown[] | undefined ?? [];
  return examples.map((value) => typeof value === "number" ? BigInt(value) : value);
}

function candidatesOf(schema: z.core.$ZodType, place: string): unknown[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "default":
    case "prefault":
    case "catch":
    case "nullable":
      return sampleValuesOf(def.innerType, place);
    case "pipe":
      return sampleValuesOf(def.in, place);
    case "object":
      return objectsOf(def.shape, place);
    case "array":
      return [sampleValuesOf(def.element, place), []];
    case "enum":
      return Object.values(def.entries).reverse();
    case "literal":
      return def.values;
    default:
      return longestOf(schema);
  }
}

/** The longest texts. The description of a schema says their length in code points. */
function longestOf(schema: z.core.$ZodType): string[] {
  const { maxLength } = z.globalRegistry.get(schema) ?? {};
  return typeof maxLength === "number" ? ["a", "🐈"].map((it) => it.repeat(maxLength)) : [];
}

function objectsOf(shape: Record<string, z.core.$ZodType>, place: string): object[] {
  const samples = Object.entries(shape).map(([name, member]): [string, unknown[]] => {
    return [name, sampleValuesOf(member, `${place}.${name}`)];
  });
  const first = Object.fromEntries(samples.map(([name, [value]]) => [name, value]));
  const others = samples.flatMap(([name, [, ...values]]) => {
    return [...values, undefined].map((value) => withoutUndefined({ ...first, [name]: value }));
  });
  return [withoutUndefined(first), ...others];
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
