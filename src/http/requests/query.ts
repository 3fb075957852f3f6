/** The queries of the operations: each parameter with its description and its parser. */

import { PET_EVENT_TYPES } from "../../../events/pet_event.ts";
import { z } from "zod";
import { INT64_MAX, INT64_MIN, int64Of } from "../../encoding/int64.ts";
import { PET_STATUSES } from "../../../events/pet.ts";
import { FEED_ID_PATTERN } from "eventstore-less/feed/event_feed.ts";
import type { PageQuery } from "../../animals/page.ts";
import { HttpError, quoted } from "../errors.ts";

/** Section 8 of the interface. */
export const LIMIT_MIN = 1;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;

/** Maximum number of `ids` in a query. */
export const IDS_MAX = 100;

export const EVENTS_LIMIT_MAX = 1_000;
export const EVENTS_LIMIT_DEFAULT = 100;

/** Longest wait of a request for events, in milliseconds. */
export const EVENTS_TIMEOUT_MAX = 30_000;

/** The value of `lastEventId` that means the end of the log. */
export const NOW = "now";

interface Parameter<Value> {
  description: string;
  /** Set for a list with commas. The parameter may also be repeated, as many generated clients do. */
  explode?: false;
  /** The values for clients. */
  schema: object;
  /** Parses a value. Calls `refuse` if it is not valid, with a fault that follows the name. */
  parse(value: string, refuse: (fault: string) => never): Value;
}

/** An integer in JSON, which does not distinguish 1.0 from 1. */
const INTEGER = /^(0|-?[1-9]\d{0,18})(\.0+)?$/;

type Parameters<Query> = { [Name in keyof Query]-?: Parameter<Query[Name]> };

const STATUS_SCHEMA = { $ref: "#/components/schemas/PetStatus" };

export const PAGE_PARAMETERS: Parameters<PageQuery> = {
  limit: integer("The maximum number of animals on a page", LIMIT_MIN, LIMIT_MAX, LIMIT_DEFAULT),
  status: oneOf("Lists only animals of this status; by default all", PET_STATUSES, STATUS_SCHEMA),
  categoryId: {
    description: "Lists only animals of this category; by default all",
    schema: integerSchema("int64", String(INT64_MIN), String(INT64_MAX)),
    parse(value, refuse) {
      const id = INTEGER.test(value) ? int64Of(value) : undefined;
      return id ?? refuse(`must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
    },
  },
  cursor: {
    description: "The start of the page, taken from the `Link` header of the previous page",
    schema: { type: "string", pattern: "^[1-9][0-9]{0,18}$", minLength: 1, maxLength: 19 },
    parse(value, refuse) {
      const cursor = parseDigits(value);
      return cursor >= 1 ? cursor : refuse("must be taken from the Link header of another page");
    },
  },
  ids: {
    description:
      "Lists only the animals with these identifiers, without those that do not exist; " +
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
};

export const EVENTS_PARAMETERS = {
  lastEventId: {
    description:
      "Lists only the events after the one with this `id`, or later ones (`now`); by default all",
    schema: {
      type: "string",
      pattern: `^(${NOW}|${FEED_ID_PATTERN.source.slice(1, -1)})$`,
      maxLength: 33,
    },
    parse(value, refuse) {
      const isId = value === NOW || FEED_ID_PATTERN.test(value);
      return isId ? value : refuse(`must be the id of an event, or ${NOW}`);
    },
  },
  since: {
    description: "Lists only events of this time (RFC 3339) or later, as far as clocks agree: " +
      "those of the instances may differ by a minute; cannot be used with `lastEventId`",
    schema: { type: "string", format: "date-time", maxLength: 40 },
    /** Returns milliseconds since the Unix epoch. */
    parse(value, refuse) {
      // In a query, a plus sign means a space.
      const time = value.toUpperCase().replace(" ", "+");
      const isTime = z.iso.datetime({ offset: true }).safeParse(time).success;
      return isTime ? Date.parse(time) : refuse("must be a time such as 2026-11-20T08:00:00Z");
    },
  },
  limit: integer(
    "The maximum number of events in a batch",
    1,
    EVENTS_LIMIT_MAX,
    EVENTS_LIMIT_DEFAULT,
  ),
  timeout: integer(
    "Maximum wait for an event, in milliseconds, if a batch would be empty",
    0,
    EVENTS_TIMEOUT_MAX,
    0,
  ),
  type: oneOf("Lists only events of this type", PET_EVENT_TYPES),
  status: oneOf(
    "Lists only events by which an animal enters, keeps or leaves this status",
    PET_STATUSES,
    STATUS_SCHEMA,
  ),
} satisfies Record<string, Parameter<unknown>>;

export type EventsQuery = ReturnType<typeof parseEventsQuery>;

export function parsePageQuery(search: string): PageQuery {
  const query = parseQuery(search, PAGE_PARAMETERS);
  const { ids } = query;
  if (ids === undefined) return { limit: LIMIT_DEFAULT, ...query };
  if (Object.keys(query).length > 1) throw combinedError("ids", "another parameter");
  return { ids, limit: ids.length };
}

/** The text of a query. */
export function queryOf(query: object): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  return parameters.map(([name, value]) => `${name}=${value}`).join("&");
}

function combinedError(name: string, other: string): HttpError {
  const message = `Query parameter "${name}" cannot be used with ${other}`;
  return new HttpError("invalid_parameter", message);
}

/** Throws `invalid_parameter` and `malformed_request`. A resumed stream sends a newer position in `Last-Event-ID`. */
export function parseEventsQuery(search: string, headers: Headers) {
  const parsed = parseQuery(search, EVENTS_PARAMETERS);
  const query = { limit: EVENTS_LIMIT_DEFAULT, timeout: 0, ...parsed };
  if (query.since !== undefined && query.lastEventId !== undefined) {
    throw combinedError("since", "lastEventId");
  }
  const resumed = headers.get("last-event-id");
  if (resumed === null || resumed === "") return query;
  if (!FEED_ID_PATTERN.test(resumed)) {
    throw new HttpError("malformed_request", "The Last-Event-ID header must be the id of an event");
  }
  return { ...query, lastEventId: resumed, since: undefined };
}

/** The query of the request that continues after an event. */
export function queryAfter(id: string, { limit, timeout, type, status }: EventsQuery): string {
  return queryOf({ lastEventId: id, limit, timeout, type, status });
}

const NEXT_PAGE = "the address of the next page is in the Link header";

/** Parses a query, given without its question mark. Throws `invalid_parameter`. */
export function parseQuery<Query>(search: string, parameters: Parameters<Query>): Partial<Query> {
  const query: Partial<Query> = {};
  const sent = new URLSearchParams(search);
  for (const [name, value] of sent) {
    const refuse = (fault: string) => {
      throw new HttpError("invalid_parameter", `Query parameter ${quoted(name)} ${fault}`);
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

function adviceOnUnknown(name: string, known: string[]): string {
  if (known.length === 0) return "this operation takes none";
  if (/^(offset|page)$/.test(name)) return NEXT_PAGE;
  return `use ${known.join(", ")}`;
}

/** The number of 1 to 19 digits; `NaN` for any other text. */
function parseDigits(value: string): number {
  return /^\d{1,19}$/.test(value) ? Number(value) : NaN;
}

function integer(meaning: string, minimum: number, maximum: number, byDefault: number) {
  // Not as `default`, which some clients would send: a request with `ids` has no other parameter.
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

function oneOf<Value extends string>(
  description: string,
  values: readonly Value[],
  schema: object = { type: "string", enum: values },
): Parameter<Value> {
  const parse: Parameter<Value>["parse"] = (value, refuse) =>
    values.find((it) => it === value) ?? refuse(`must be one of ${values.join(", ")}`);
  return { description, schema, parse };
}
