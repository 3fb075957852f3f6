/** Which parts of a schema would change or lose a value between the data of an event, its line, and the data read from it. */

import type { z } from "zod";

/** What a part of a schema is, and what to use in its place. The words follow the path of the part. */
const UNFIT: Partial<Record<z.core.$ZodTypeDef["type"], string>> = {
  any: "accepts anything, also what a line cannot hold: give it a schema of its own",
  catch: "would replace a wrong value: leave out .catch()",
  custom: "accepts objects that a line cannot hold: use a schema of JSON, with .refine() if needed",
  date: "is a Date, which a line cannot hold: use the text of z.iso.datetime() or z.iso.date()",
  default: "would add a value that was not there: use .optional(), and choose the value on reading",
  file: "is a file, which a line cannot hold: use its name, and keep the file elsewhere",
  function: "is a function, which a line cannot hold: leave it out",
  intersection: "would check a value twice, and a strict object refuses the members of another: " +
    "use .extend()",
  lazy: "can be nested without end: use a list whose elements name their parents",
  map: "is a Map, which a line cannot hold: use z.record() or a list",
  nan: "is not a value of JSON: use .nullable()",
  never: "accepts no value: leave it out",
  number:
    "is a number, but a line has integers as bigint: use z.bigint(), or safeInteger() of the " +
    "engine; for a fraction, use a text, or an integer of a smaller unit",
  prefault:
    "would add a value that was not there: use .optional(), and choose the value on reading",
  promise: "is a promise, which a line cannot hold: use what it resolves to",
  set: "is a Set, which a line cannot hold: use z.array()",
  success: "would replace a value by whether it is valid: use the schema inside",
  symbol: "is a symbol, which a line cannot hold: use a text",
  transform: "would change the value: change it before the append, without .transform() and " +
    "z.preprocess()",
  undefined: "is not a value of JSON: use .optional() or .nullable()",
  unknown: "accepts anything, also what a line cannot hold: give it a schema of its own",
  void: "is not a value of JSON: use .optional() or .nullable()",
};

/** Where a part of a schema is. */
interface Place {
  /** For messages: `cents`, `items[].name`. */
  path: string;
  /** Whether the part is the member of an object, which can be absent. An element of a list cannot. */
  isMember: boolean;
  /** The objects, lists and unions around the part. */
  outer: readonly z.core.$ZodType[];
}

/**
 * The parts of the schema of an event's data that would change or lose a value, or that accept what JSON cannot hold: a
 * sentence for each, with its path and what to use. None is found for what only the data shows, for example a refinement
 * that replaces the value: that is checked at each append.
 */
export function valuePreservingFaults(schema: z.core.$ZodType, path: string): string[] {
  return [...faultsOf(schema, { path, isMember: false, outer: [] })];
}

function* faultsOf(schema: z.core.$ZodType, place: Place): Generator<string> {
  const { path, outer } = place;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const inner = { ...place, outer: [...outer, schema] };
  if (outer.includes(schema)) {
    yield `${path} contains itself, so it ${UNFIT.lazy}`;
    return;
  }
  if ((def as { coerce?: boolean }).coerce === true) {
    yield `${path} would change the value: use the schema without z.coerce`;
    return;
  }
  if (def.checks?.some(changesValue)) {
    yield `${path} would change the text: change it before the append, without .trim(), ` +
      ".toLowerCase(), .toUpperCase(), .normalize() and .overwrite()";
  }
  switch (def.type) {
    case "string":
      if (changesValue(schema)) yield `${path} would change the text: leave out normalize`;
      return;
    case "boolean":
    case "bigint":
    case "null":
    case "template_literal":
      return;
    case "enum":
    case "literal":
      yield* faultsOfValues(def.type === "enum" ? Object.values(def.entries) : def.values, path);
      return;
    case "optional":
      if (!place.isMember) yield `${path} can be absent, but only a member can: use .nullable()`;
      yield* faultsOf(def.innerType, place);
      return;
    case "nonoptional":
    case "nullable":
    case "readonly":
      yield* faultsOf(def.innerType, place);
      return;
    case "array":
      yield* faultsOf(def.element, { ...inner, path: `${path}[]`, isMember: false });
      return;
    case "tuple":
      for (const [index, item] of [...def.items, ...restOf(def)].entries()) {
        yield* faultsOf(item, { ...inner, path: `${path}[${index}]`, isMember: false });
      }
      return;
    case "object":
      yield* faultsOfObject(def, inner);
      return;
    case "record":
      yield* faultsOfRecord(def, inner);
      return;
    case "union":
      for (const option of def.options) yield* faultsOf(option, inner);
      yield* faultsOfIntegers(def.options, path);
      return;
    case "pipe":
      yield* faultsOfPipe(def, place);
      return;
    default:
      yield `${path} ${UNFIT[def.type] ?? "is of a form that is not known: use another schema"}`;
  }
}

/** Whether a check of a text, or the form of a text, replaces it. */
function changesValue({ _zod: { def } }: { _zod: { def: object } }): boolean {
  const { check, normalize } = def as { check?: string; normalize?: boolean };
  return check === "overwrite" || normalize === true;
}

function* faultsOfValues(values: readonly unknown[], path: string): Generator<string> {
  for (const value of values) {
    if (value === undefined) yield `${path} ${UNFIT.undefined}`;
    if (typeof value === "number") {
      yield `${path} has the number ${value}, but a line has integers as bigint: use ${value}n or a text`;
    }
  }
}

function* faultsOfObject(
  { shape, catchall }: z.core.$ZodObjectDef,
  place: Place,
): Generator<string> {
  const { path } = place;
  if (catchall?._zod.def.type !== "never") {
    yield `${path} would lose members that it does not name: use z.strictObject()`;
  }
  for (const [name, member] of Object.entries(shape)) {
    if (!isMemberName(name)) yield `${path} has a member ${JSON.stringify(name)}: rename it`;
    yield* faultsOf(member, { ...place, path: `${path}.${name}`, isMember: true });
  }
}

function* faultsOfRecord(
  { keyType, valueType, mode }: z.core.$ZodRecordDef,
  place: Place,
): Generator<string> {
  const { path } = place;
  if (mode === "loose") {
    yield `${path} would lose the schema of members with other names: use z.record()`;
  }
  const { def } = (keyType as z.core.$ZodTypes)._zod;
  const isText = ["string", "enum", "literal", "template_literal"].includes(def.type);
  if (!isText) {
    yield `${path} has names that are not texts: use z.string(), z.enum() or z.literal()`;
  }
  if (isText) yield* faultsOf(keyType, { ...place, path: `${path}'s names`, isMember: false });
  yield* faultsOf(valueType, { ...place, path: `${path}[]`, isMember: true });
}

/** A line has one form for integers, so a union cannot tell a `number` from a `bigint`. */
function* faultsOfIntegers(
  options: readonly z.core.$ZodType[],
  path: string,
): Generator<string> {
  const hasBigInt = options.some((it) => it._zod.def.type === "bigint");
  const hasNumber = options.some((it) => it._zod.def.type === "pipe");
  if (hasBigInt && hasNumber) {
    yield `${path} has integers as bigint and as number, which a line cannot tell apart: use one`;
  }
}

function* faultsOfPipe(def: z.core.$ZodPipeDef, place: Place): Generator<string> {
  if (isSafeInteger(def)) return;
  const isCodec = def.transform !== undefined || def.reverseTransform !== undefined;
  if (isCodec) {
    yield `${place.path} would change the value: use what the codec reads, without the codec`;
    return;
  }
  yield* faultsOf(def.in, place);
  yield* faultsOf(def.out, place);
}

/** Whether it is a schema as that of `safeInteger()`: between such bounds, `Number` loses nothing. */
function isSafeInteger({ in: before, out: after }: z.core.$ZodPipeDef): boolean {
  const { def } = (before as z.core.$ZodTypes)._zod;
  const { transform } = (after as z.core.$ZodTransform)._zod.def;
  return def.type === "bigint" && def.coerce !== true && transform === Number &&
    hasSafeBound(def, "greater_than") && hasSafeBound(def, "less_than");
}

function hasSafeBound({ checks = [] }: z.core.$ZodBigIntDef, kind: string): boolean {
  return checks.some(({ _zod: { def } }) => {
    const { check, value } = def as { check: string; value?: bigint };
    return check === kind && Number.isSafeInteger(Number(value));
  });
}

function restOf({ rest }: z.core.$ZodTupleDef): z.core.$ZodType[] {
  return rest === null ? [] : [rest];
}

/**
 * Whether a member can have that name. Schemas lose a member `__proto__`. `JSON.parse()` of V8 reads a name that is escaped
 * as another one if it begins like a name that it has read before (seen in Deno 2.9.6: `"\\u0000"` after `"\\\\"`).
 */
export function isMemberName(name: string): boolean {
  return name !== "__proto__" && UNESCAPED.test(name);
}

/** A text that JSON writes as it is. */
const UNESCAPED = /^[^"\\\p{Cc}\p{Cs}]*$/u;
