import { z } from "zod";
import { parseExactJson } from "../../../events/int64.ts";
import { NewPet, PetPatch } from "../../../events/pet.ts";
import { HttpError, quoted } from "../errors.ts";

/** Maximum number of faults that an error names. */
const FAULTS_NAMED = 5;

const FIELDS = Object.keys(NewPet.shape).join(", ");

/** Parses a body into a NewPet. Throws `malformed_body` or `invalid_body`. */
export function parseNewPet(text: string): NewPet {
  return parseBody(text, NewPet);
}

/** Parses a body into a patch that names at least one field. Throws `malformed_body` or `invalid_body`. */
export function parsePetPatch(text: string): PetPatch {
  const patch = parseBody(text, PetPatch);
  if (Object.keys(patch).length > 0) return patch;
  throw new HttpError("invalid_body", `The body names no field to change: send any of ${FIELDS}`);
}

function parseBody<T>(text: string, schema: z.ZodObject & z.ZodType<T>): T {
  const body = parseObject(text);
  const parsed = schema.safeParse(body);
  const faults = [
    ...repeatedNames(text, body).map((name) => `Field ${quoted(name)} is repeated`),
    ...(parsed.error?.issues ?? []).flatMap((issue) => describe(issue, body, schema)),
  ];
  if (parsed.success && faults.length === 0) return parsed.data;
  const more = faults.length > FAULTS_NAMED ? `; and ${faults.length - FAULTS_NAMED} more` : "";
  const isUnknown = parsed.error?.issues.some(({ code }) => code === "unrecognized_keys");
  const known = isUnknown ? `; the fields are ${FIELDS}` : "";
  const message = faults.slice(0, FAULTS_NAMED).join("; ") + more + known;
  throw new HttpError("invalid_body", message);
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

/** V8's message, with its place. A message without a place is dropped, because it quotes the body. */
const PLACED_FAULT = /^(.)(.+?)(?: in JSON)? at position \d+ \(line (\d+) column (\d+)\)$/;

function syntaxFault(text: string, error: unknown): string {
  if (/^[ \t\n\r]*$/.test(text)) return "is empty: send one JSON object";
  const match = PLACED_FAULT.exec((error as Error).message);
  if (match === null) return "is not valid JSON";
  const [, initial, words, line, column] = match;
  return `is not valid JSON at line ${line}, column ${column}: ${initial.toLowerCase()}${words}`;
}

function describe(issue: z.core.$ZodIssue, body: object, { shape }: z.ZodObject): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => `Field ${quoted(name)} is not known`);
  }
  const name = String(issue.path[0]);
  if (!Object.hasOwn(body, name)) return [`Field "${name}" is missing`];
  const isNull = (body as Record<string, unknown>)[name] === null;
  const field = shape[name];
  const isNullable = field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNullable;
  const remedy = isNull && field instanceof z.ZodOptional ? ", or be left out" : "";
  return [`Field "${name}" ${issue.message}${isNullable ? ", or null" : remedy}`];
}

/**
 * The tokens that determine the structure of JSON text: brackets, strings, and the colon after a field name.
 */
const TOKENS = /[{[\]}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/**
 * Returns the field names that occur more than once at the top level of an object. `JSON.parse` keeps the
 * last value and silently drops the others.
 */
function repeatedNames(text: string, body: object): string[] {
  const names = Object.keys(body);
  // Most bodies have exactly one colon for each name, so they repeat no name and need no scan.
  if (text.split(":").length - 1 === names.length) return [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  for (const [token, string, colon] of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (colon !== undefined && depth === 1) {
      const parsed = JSON.parse(string);
      if (seen.has(parsed)) repeated.add(parsed);
      seen.add(parsed);
    }
  }
  return [...repeated];
}
