/** The query of a list of pets: each parameter with its description and its parser. */

import { INT64_MAX, INT64_MIN, int64Of } from "eventstore-less/int64";
import {
  CURSOR_DESCRIPTION,
  LIMIT,
  LIMIT_DEFAULT,
  NOT_A_CURSOR,
} from "../api/requests/page_limit.ts";
import {
  combinedError,
  INTEGER,
  integerSchema,
  oneOf,
  type Parameter,
  parameterError,
  type Parameters,
  parseDigits,
  parseQuery,
} from "../api/requests/query.ts";
import { isSearch, type PageQuery, type SummaryQuery } from "./page.ts";
import { STATUS_FILTER, STATUS_FILTERS } from "./described_pets.ts";

/** Longest search, in Unicode code points. The `Link` header repeats it. */
export const SEARCH_MAX = 100;

/** Maximum number of `ids` in a query. */
export const IDS_MAX = 100;

export const PAGE_PARAMETERS: Parameters<PageQuery> = {
  limit: LIMIT,
  status: oneOf(
    "Lists only animals of this status, or those without one (`none`); by default all",
    STATUS_FILTERS,
    STATUS_FILTER,
  ),
  categoryId: {
    description: "Lists only animals of this category; by default all",
    schema: integerSchema("int64", String(INT64_MIN), String(INT64_MAX)),
    parse(value, refuse) {
      const id = INTEGER.test(value) ? int64Of(value) : undefined;
      return id ?? refuse(`must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
    },
  },
  cursor: {
    description: CURSOR_DESCRIPTION,
    schema: { type: "string", pattern: "^[1-9][0-9]{0,18}$", minLength: 1, maxLength: 19 },
    parse(value, refuse) {
      const cursor = parseDigits(value);
      return cursor >= 1 ? cursor : refuse(NOT_A_CURSOR);
    },
  },
  ids: {
    description:
      "Lists only the animals with these identifiers, without those that are not there; " +
      "cannot be used with another parameter",
    explode: false,
    schema: {
      type: "array",
      items: integerSchema("int64", "1", String(INT64_MAX)),
      minItems: 1,
      maxItems: IDS_MAX,
    },
    parse(value, refuse) {
      const ids = value.split(",").map((id) => INTEGER.test(id) ? Number(id) : NaN);
      const isValid = ids.length <= IDS_MAX && ids.every((id) => id >= 1);
      if (!isValid) refuse(`must be 1 to ${IDS_MAX} identifiers, with commas between them`);
      return [...new Set(ids)];
    },
  },
  name: searched("Lists only animals whose name has each of these words"),
  q: searched(
    "Lists only animals whose name, note and name of the category together have each of these words; cannot be used with `name`",
  ),
  order: oneOf<NonNullable<PageQuery["order"]>>(
    "The order by identifier: `asc` is oldest first; by default `desc`, newest first",
    ["asc", "desc"],
  ),
  removed: {
    description:
      "With `true`, lists the removed animals instead, last removed first, each as it was, with `removedAt` and `etag`; " +
      "cannot be used with another filter or an order",
    schema: { type: "boolean" },
    parse(value, refuse) {
      if (value === "false") return undefined;
      return value === "true" || refuse("must be true or false");
    },
  },
};

/** The parameters that a list of removed animals does not have. */
const FILTERS = ["status", "categoryId", "ids", "name", "q", "order"] as const;

export function parsePageQuery(search: string): PageQuery {
  const query = parseQuery(search, PAGE_PARAMETERS);
  const { ids, removed } = query;
  const hasFilter = FILTERS.some((name) => query[name] !== undefined);
  if (removed && hasFilter) throw combinedError("removed", "another filter or an order");
  expectOneSearch(query);
  if (ids === undefined) return { limit: LIMIT_DEFAULT, ...query };
  if (Object.keys(query).length > 1) throw combinedError("ids", "another parameter");
  return { ids, limit: ids.length };
}

const { categoryId, cursor, name, q } = PAGE_PARAMETERS;

export const SUMMARY_PARAMETERS: Parameters<SummaryQuery> = { categoryId, cursor, name, q };

export function parseSummaryQuery(search: string): SummaryQuery {
  const query = parseQuery(search, SUMMARY_PARAMETERS);
  expectOneSearch(query);
  if (query.cursor !== undefined && !isSearch(query)) {
    throw parameterError("cursor", "needs name or q");
  }
  return query;
}

function expectOneSearch({ name, q }: Partial<PageQuery>): void {
  if (name !== undefined && q !== undefined) throw combinedError("q", "name");
}

function searched(description: string): Parameter<string> {
  return {
    description:
      `${description}, in any order, without regard to case, accents and characters that nobody sees; ` +
      "a page may then be short, or even empty, although the `Link` header names a next one",
    schema: { type: "string", minLength: 1, maxLength: SEARCH_MAX },
    parse(value, refuse) {
      const hasLength = value.length >= 1 && value.length <= 2 * SEARCH_MAX &&
        [...value].length <= SEARCH_MAX;
      return hasLength ? value : refuse(`must be 1 to ${SEARCH_MAX} characters long`);
    },
  };
}
