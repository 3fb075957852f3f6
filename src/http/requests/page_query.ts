import { PetStatus } from "../../../events/pet.ts";
import type { PageQuery } from "../../projections/pet_reader.ts";
import { HTTP_ERRORS } from "../errors.ts";

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
    if (seen.has(name)) throw HTTP_ERRORS.repeatedParameter(name);
    seen.add(name);
    switch (name) {
      case "limit":
        query.limit = Number(value);
        if (!isDecimal(value) || query.limit < LIMIT_MIN || query.limit > LIMIT_MAX) {
          throw HTTP_ERRORS.invalidParameter(
            name,
            `must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`,
          );
        }
        break;
      case "status": {
        const status = PetStatus.safeParse(value);
        if (!status.success) {
          throw HTTP_ERRORS.invalidParameter(name, status.error.issues[0].message);
        }
        query.status = status.data;
        break;
      }
      case "cursor":
        query.cursor = Number(value);
        if (!isDecimal(value) || query.cursor < 1) {
          throw HTTP_ERRORS.invalidParameter(
            name,
            "must be taken from the Link header of another page",
          );
        }
        break;
      default:
        throw HTTP_ERRORS.unknownParameter(name, PAGE_PARAMETERS);
    }
  }
  return query;
}

/** Throws `invalid_parameter` if there is any parameter. Operations without parameters use this. */
export function refuseQuery(search: string): void {
  if (search === "") return;
  for (const name of new URLSearchParams(search).keys()) {
    throw HTTP_ERRORS.unknownParameter(name, []);
  }
}

function isDecimal(text: string): boolean {
  return /^\d{1,19}$/.test(text);
}
