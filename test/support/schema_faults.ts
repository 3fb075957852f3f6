/**
 * Checks values against the JSON Schemas of the OpenAPI document. A package for JSON Schema is not used, because
 * every test needs this check, and `deno task` would download the package for all other tasks too.
 */

export type Schema = Record<string, unknown>;

/** Keywords that describe a value and do not restrict it. */
const ANNOTATIONS = ["default", "description", "example", "title"];

/**
 * The ways in which a value does not match a schema of a document. Knows the keywords that the document uses, and
 * throws at any other.
 */
export function* schemaFaults(
  document: unknown,
  schema: Schema,
  value: unknown,
  at = "value",
): Generator<string> {
  for (const [keyword, rule] of Object.entries(schema)) {
    if (keyword === "$ref") {
      yield* schemaFaults(document, resolve(document, rule as string), value, at);
    } else if (keyword === "items") {
      for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
        yield* schemaFaults(document, rule as Schema, item, `${at}[${index}]`);
      }
    } else if (keyword === "properties") {
      for (const [name, inner] of Object.entries(rule as Record<string, Schema>)) {
        if (!isObject(value) || !Object.hasOwn(value, name)) continue;
        yield* schemaFaults(document, inner, value[name], `${at}.${name}`);
      }
    } else if (!ANNOTATIONS.includes(keyword) && !matches(keyword, rule, value, schema)) {
      yield `${at} does not match ${keyword}: ${JSON.stringify(rule)}`;
    }
  }
}

/** Whether a value matches one keyword. A keyword restricts only values of the type that it is for. */
function matches(keyword: string, rule: unknown, value: unknown, schema: Schema): boolean {
  switch (keyword) {
    case "type":
      return rule === typeOf(value) || rule === "integer" && Number.isInteger(value);
    case "format":
      return rule === "uri" ? URL.canParse(value as string) : isInteger(rule, schema);
    case "const":
      return value === rule;
    case "enum":
      return (rule as unknown[]).includes(value);
    case "minimum":
      return typeof value !== "number" || value >= Number(rule);
    case "maximum":
      return typeof value !== "number" || value <= Number(rule);
    case "minLength":
      return typeof value !== "string" || [...value].length >= Number(rule);
    case "maxLength":
      return typeof value !== "string" || [...value].length <= Number(rule);
    case "pattern":
      return typeof value !== "string" || new RegExp(rule as string, "u").test(value);
    case "maxItems":
      return !Array.isArray(value) || value.length <= Number(rule);
    case "required":
      return !isObject(value) ||
        (rule as string[]).every((name) => Object.hasOwn(value, name));
    case "additionalProperties":
      return rule === false && (!isObject(value) ||
        Object.keys(value).every((name) => Object.hasOwn(schema.properties as Schema, name)));
    default:
      throw new Error(`The keyword ${keyword} of JSON Schema is not known here: ${rule}`);
  }
}

/** The bounds of a format of integers are checked as `minimum` and `maximum`. */
function isInteger(format: unknown, { type }: Schema): boolean {
  return type === "integer" && (format === "int32" || format === "int64");
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeOf(value) === "object";
}

/** The schema that a reference names, such as `#/components/schemas/Pet`. */
function resolve(document: unknown, reference: string): Schema {
  const names = reference.split("/").slice(1);
  const found = names.reduce((part, name) => (part as Schema | undefined)?.[name], document);
  if (!isObject(found)) throw new Error(`The document does not hold ${reference}`);
  return found;
}
