import { PetStatus } from "../../../events/pet.ts";
import type { PageQuery } from "../../projections/pet_reader.ts";
import { HttpError, quoted } from "../errors.ts";

/** Section 8 of the interface. */
export const LIMIT_MIN = 1;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;

export const PAGE_PARAMETERS = ["limit", "status", "cursor"];

/** Parses the query of `GET /pets`, given without its question mark. Throws `invalid_parameter`. */
export function parsePageQuery(search: string): PageQuery {
  const query: PageQuery = { limit: LIMIT_DEFAULT };
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (seen.has(name)) throw parameterError(name, "is repeated");
    seen.add(name);
    const number = /^\d{1,19}$/.test(value) ? Number(value) : NaN;
    if (name === "limit") {
      if (!(number >= LIMIT_MIN && number <= LIMIT_MAX)) {
        throw parameterError(name, `must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`);
      }
      query.limit = number;
    } else if (name === "status") {
      const { data, error } = PetStatus.safeParse(value);
      if (error !== undefined) throw parameterError(name, error.issues[0].message);
      query.status = data;
    } else if (name === "cursor") {
      if (!(number >= 1)) {
        throw parameterError(name, "must be taken from the Link header of another page");
      }
      query.cursor = number;
    } else {
      throw parameterError(name, `is not known: use ${PAGE_PARAMETERS.join(", ")}`);
    }
  }
  return query;
}

/** Throws `invalid_parameter` for the first parameter, if any. Operations without parameters use this. */
export function refuseQuery(search: string): void {
  for (const name of new URLSearchParams(search).keys()) {
    throw parameterError(name, "is not known: this operation takes none");
  }
}

function parameterError(name: string, fault: string): HttpError {
  return new HttpError("invalid_parameter", `Query parameter ${quoted(name)} ${fault}`);
}
