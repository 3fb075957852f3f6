import { type z } from "zod";
import { parseExactJson } from "../../events/int64.ts";
import { NewPet } from "../../events/pet.ts";
import { HttpError, quoted } from "./errors.ts";

/** Maximum number of faults that an error names. */
const FAULTS_NAMED = 5;

/** Parses a body into a NewPet. Throws `malformed_body` or `invalid_body`. */
export function parseNewPet(text: string): NewPet {
  const body = parseObject(text);
  const parsed = NewPet.safeParse(body);
  const faults = [
    ...repeatedNames(text, body).map((name) => `Field ${quoted(name)} is repeated`),
    ...(parsed.error?.issues ?? []).flatMap((issue) => describe(issue, body)),
  ];
  if (parsed.success && faults.length === 0) return parsed.data;
  const more = faults.length > FAULTS_NAMED ? `; and ${faults.length - FAULTS_NAMED} more` : "";
  throw new HttpError("invalid_body", faults.slice(0, FAULTS_NAMED).join("; ") + more);
}

function parseObject(text: string): object {
  let body: unknown;
  try {
    body = parseExactJson(text);
  } catch (error) {
    throw new HttpError(
      "malformed_body",
      error instanceof RangeError ? "The body is nested too deep" : "The body is not valid JSON",
    );
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new HttpError("malformed_body", "The body is not a JSON object");
  }
  return body;
}

function describe(issue: z.core.$ZodIssue, body: object): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => `Field ${quoted(name)} is not known`);
  }
  const name = String(issue.path[0]);
  return [
    Object.hasOwn(body, name) ? `Field "${name}" ${issue.message}` : `Field "${name}" is missing`,
  ];
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
