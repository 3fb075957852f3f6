import type { PageQuery } from "../../projections/pet_reader.ts";
import { integerFrom, parseDigits, parseQuery, parseStatus } from "./query.ts";

/** Section 8 of the interface. */
export const LIMIT_MIN = 1;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;

/** Parses the query of `GET /pets`, given without its question mark. Throws `invalid_parameter`. */
export function parsePageQuery(search: string): PageQuery {
  return { limit: LIMIT_DEFAULT, ...parseQuery<PageQuery>(search, PARSERS) };
}

const PARSERS: Parameters<typeof parseQuery<PageQuery>>[1] = {
  limit: integerFrom(LIMIT_MIN, LIMIT_MAX),
  status: parseStatus,
  cursor(value, refuse) {
    const cursor = parseDigits(value);
    return cursor >= 1 ? cursor : refuse("must be taken from the Link header of another page");
  },
};
