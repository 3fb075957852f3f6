/** Queries: their parameters, each with its description and its parser. */

import { HttpError, quoted } from "../errors.ts";
import type { DescribedParameter } from "../operation.ts";

export interface Parameter<Value> {
  description: string;
  /** Set for a list with commas. The parameter may also be repeated, as many generated clients do. */
  explode?: false;
  /** The values for clients. */
  schema: object;
  /** Parses a value. Calls `refuse` if it is not valid, with a fault that follows the name. */
  parse(value: string, refuse: (fault: string) => never): Value;
}

/** An integer in JSON, which does not distinguish 1.0 from 1. */
export const INTEGER = /^(0|-?[1-9]\d{0,18})(\.0+)?$/;

export type Parameters<Query> = { [Name in keyof Query]-?: Parameter<Query[Name]> };

/** The parameters of a query in the description. */
export function queryParameters(
  parameters: Record<string, Parameter<unknown>>,
): DescribedParameter[] {
  return Object.entries(parameters).map(([name, { description, explode, schema }]) => {
    return { name, in: "query", description, explode, schema };
  });
}

/** The text of a query. */
export function queryOf(query: object): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** The error about a parameter, with a fault that follows its name. */
export function parameterError(name: string, fault: string): HttpError {
  return new HttpError("invalid_parameter", `Query parameter ${quoted(name)} ${fault}`);
}

/** The error about two parameters that exclude each other. */
export function combinedError(name: string, other: string): HttpError {
  return parameterError(name, `cannot be used with ${other}`);
}

const NEXT_PAGE = "the address of the next page is in the Link header";

/** Parses a query, given without its question mark. Throws `invalid_parameter`. */
export function parseQuery<Query>(search: string, parameters: Parameters<Query>): Partial<Query> {
  const query: Partial<Query> = {};
  expectUtf8(search);
  const sent = new URLSearchParams(search);
  for (const [name, value] of sent) {
    const refuse = (fault: string) => {
      throw parameterError(name, fault);
    };
    if (!Object.hasOwn(parameters, name)) {
      refuse(`is not known: ${adviceOnUnknown(name, Object.keys(parameters))}`);
    }
    const known = name as keyof Query;
    const isList = parameters[known].explode === false;
    const isRepeated = Object.hasOwn(query, known);
    if (isRepeated && isList) continue;
    if (isRepeated) refuse("is repeated");
    const text = isList ? sent.getAll(name).join(",") : value;
    query[known] = parameters[known].parse(text, refuse);
  }
  return query;
}

/** Bytes of a query, encoded. A percent sign without digits is a character of its own. */
const ENCODED_BYTES = /(?:%[0-9A-F]{2})+/gi;

/** Throws if encoded bytes are not UTF-8. `URLSearchParams` would replace them. */
function expectUtf8(search: string): void {
  if (!search.includes("%")) return;
  for (const parameter of search.split("&")) {
    const bytes = parameter.match(ENCODED_BYTES) ?? [];
    if (bytes.every(isUtf8)) continue;
    const [name] = new URLSearchParams(parameter).keys();
    throw parameterError(name, "is not valid UTF-8");
  }
}

function isUtf8(encodedBytes: string): boolean {
  try {
    decodeURIComponent(encodedBytes);
    return true;
  } catch {
    return false;
  }
}

function adviceOnUnknown(name: string, known: string[]): string {
  if (known.length === 0) return "this operation takes none";
  if (/^(offset|page)$/.test(name)) return NEXT_PAGE;
  return `use ${known.join(", ")}`;
}

/** The number of 1 to 19 digits; `NaN` for any other text. */
export function parseDigits(value: string): number {
  return /^\d{1,19}$/.test(value) ? Number(value) : NaN;
}

export function integer(meaning: string, minimum: number, maximum: number, byDefault: number) {
  // Not as `default`: some clients would send it, but a request with `ids` has no other parameter.
  const description = `${meaning}; by default ${byDefault}`;
  const schema = integerSchema("int32", minimum, maximum);
  const parse: Parameter<number>["parse"] = (value, refuse) => {
    const number = parseDigits(value);
    const isValid = number >= minimum && number <= maximum;
    return isValid ? number : refuse(`must be an integer from ${minimum} to ${maximum}`);
  };
  return { description, schema, parse };
}

/** The bounds are texts if a JavaScript number cannot hold all their digits. */
export function integerSchema<T>(format: "int32" | "int64", minimum: T, maximum: T) {
  return { type: "integer", format, minimum, maximum };
}

export function oneOf<Value extends string>(
  description: string,
  values: readonly Value[],
  schema: object = { type: "string", enum: values },
): Parameter<Value> {
  const parse: Parameter<Value>["parse"] = (value, refuse) =>
    values.find((it) => it === value) ?? refuse(`must be one of ${values.join(", ")}`);
  return { description, schema, parse };
}
