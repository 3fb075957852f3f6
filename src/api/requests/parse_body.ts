/** Parses the body of a request by its schema. A message names the fields, and repeats no value. */

import { parseExactJson } from "eventstore-less/int64";
import { z } from "zod";
import { HttpError, quoted } from "../errors.ts";

const FAULTS_NAMED = 5;

export const ASSIGNED = "is assigned by the service: leave it out";
const NOT_KNOWN = "is not known";

/**
 * Parses one JSON object. `resource` is the schema of what clients read: the service assigns the fields that only it
 * has. Throws `malformed_body` or `invalid_body`.
 */
export function parseBody<T>(
  text: string,
  schema: z.ZodObject & z.ZodType<T>,
  resource: z.ZodObject,
): T {
  const body = parseObject(text);
  const parsed = schema.safeParse(body);
  // The values of a valid body have no names of their own.
  const faults = parsed.success
    ? repeatedNames(text, Object.keys(body)).map((name) => `Field ${quoted(name)} is repeated`)
    : parsed.error.issues.flatMap((issue) => describe(issue, body, schema, resource));
  if (parsed.success && faults.length === 0) return parsed.data;
  throw invalidBodyError(faults, schema);
}

function invalidBodyError(faults: string[], schema: z.ZodObject, place = ""): HttpError {
  const more = faults.length > FAULTS_NAMED ? `; and ${faults.length - FAULTS_NAMED} more` : "";
  const isAnyUnknown = faults.some((fault) => fault.endsWith(NOT_KNOWN));
  const known = isAnyUnknown ? `; the fields are ${fieldsOf(schema)}` : "";
  const message = place + faults.slice(0, FAULTS_NAMED).join("; ") + more + known;
  return new HttpError("invalid_body", message);
}

/** Parses an object in a body by its schema. `place` leads to it. Throws `invalid_body`. */
export function parseMember<T>(
  member: unknown,
  schema: z.ZodObject & z.ZodType<T>,
  place: string,
): T {
  const isObject = typeof member === "object" && member !== null && !Array.isArray(member);
  if (!isObject) throw new HttpError("invalid_body", `${place} must be an object`);
  const parsed = schema.safeParse(member);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => describe(issue, member, schema, schema));
  throw invalidBodyError(faults, schema, `${place}: `);
}

/** Throws `invalid_body` if an object anywhere in a body has a name twice. `body` is the value of the text. */
export function expectNoRepeatedNames(text: string, body: object): void {
  const written = [...text.matchAll(STRINGS)].filter(([, , colon]) => colon !== undefined);
  if (written.length === nameCount(body)) return;
  throw new HttpError("invalid_body", "A field is repeated in one of the objects of the body");
}

/** How many names the objects in a value have. */
function nameCount(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((count, member) => count + nameCount(member), own);
}

/** As {@linkcode parseBody}, for a patch. Throws `invalid_body` also if it names no field. */
export function parsePatch<T extends object>(
  text: string,
  schema: z.ZodObject & z.ZodType<T>,
  resource: z.ZodObject,
): T {
  const patch = parseBody(text, schema, resource);
  if (Object.keys(patch).length > 0) return patch;
  const message = `The body names no field to change: send any of ${fieldsOf(schema)}`;
  throw new HttpError("invalid_body", message);
}

function fieldsOf({ shape }: z.ZodObject): string {
  return Object.keys(shape).join(", ");
}

function parseObject(text: string): object {
  let body: unknown;
  try {
    body = parseExactJson(text);
  } catch (error) {
    const fault = error instanceof RangeError ? "is nested too deep" : syntaxFault(text, error);
    throw new HttpError("malformed_body", `The body ${fault}`);
  }
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new HttpError("malformed_body", "The body must be one JSON object");
}

/** V8's message, with its place. */
const PLACED_FAULT = /^(.)(.+?)(?: in JSON)? at position \d+ \(line (\d+) column (\d+)\)$/;

function syntaxFault(text: string, error: unknown): string {
  if (/^[ \t\n\r]*$/.test(text)) return "is empty: send one JSON object";
  const match = PLACED_FAULT.exec((error as Error).message);
  if (match === null) return unexpectedCharacter(text);
  const [, initial, words, line, column] = match;
  return `is not valid JSON at line ${line}, column ${column}: ${initial.toLowerCase()}${words}`;
}

const BYTE_ORDER_MARK = "\ufeff";

/** V8's message for an unexpected character has no place, and quotes the body. */
function unexpectedCharacter(text: string): string {
  const index = indexOfUnexpected(text);
  const before = text.slice(0, index);
  const line = before.split("\n").length;
  const column = index - before.lastIndexOf("\n");
  const what = text[index] === BYTE_ORDER_MARK ? "byte order mark" : "character";
  return `is not valid JSON at line ${line}, column ${column}: unexpected ${what}`;
}

/** The index of the unexpected character: the last one of the shortest beginning of the text that has this fault. */
function indexOfUnexpected(text: string): number {
  let [without, having] = [0, text.length];
  while (having - without > 1) {
    const middle = (without + having) >> 1;
    if (hasUnexpected(text.slice(0, middle))) having = middle;
    else without = middle;
  }
  return without;
}

function hasUnexpected(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.endsWith("is not valid JSON");
  }
}

function describe(
  issue: z.core.$ZodIssue,
  body: object,
  { shape }: z.ZodObject,
  resource: z.ZodObject,
): string[] {
  if (issue.code === "unrecognized_keys") {
    const fault = (name: string) => Object.hasOwn(resource.shape, name) ? ASSIGNED : NOT_KNOWN;
    return issue.keys.map((name) => `Field ${quoted(name)} ${fault(name)}`);
  }
  const name = String(issue.path[0]);
  if (!Object.hasOwn(body, name)) return [`Field "${name}" is missing`];
  const isNull = (body as Record<string, unknown>)[name] === null;
  const field = shape[name];
  const isNullable = field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNullable;
  const remedy = isNull && field instanceof z.ZodOptional ? ", or be left out" : "";
  return [`Field "${name}" ${issue.message}${isNullable ? ", or null" : remedy}`];
}

/** A string of JSON text, with the colon after it if it is the name of a field. */
const STRINGS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/** The names that a flat object has twice: `JSON.parse` silently drops all values but the last. */
function repeatedNames(text: string, names: string[]): string[] {
  // Most bodies have exactly one colon for each name, so they repeat no name and need no scan.
  if (text.split(":").length - 1 === names.length) return [];
  const written = [...text.matchAll(STRINGS)].filter(([, , colon]) => colon !== undefined)
    .map(([, string]) => JSON.parse(string));
  return names.filter((name) => written.indexOf(name) !== written.lastIndexOf(name));
}
