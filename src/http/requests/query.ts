/** The queries of the operations: each parameter with its description and its parser. */

import { PET_EVENT_TYPES, type PetEvent } from "../../../events/event.ts";
import { PET_STATUSES, type PetStatus } from "../../../events/pet.ts";
import { FEED_ID_PATTERN } from "../../feed/event_feed.ts";
import type { PageQuery } from "../../projections/pet_reader.ts";
import { HttpError, quoted } from "../errors.ts";

/** Section 8 of the interface. */
export const LIMIT_MIN = 1;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;

export const EVENTS_LIMIT_MAX = 1_000;
export const EVENTS_LIMIT_DEFAULT = 100;

/** Longest wait of a request for events, in milliseconds. */
export const EVENTS_TIMEOUT_MAX = 30_000;

/** The value of `lastEventId` that means the end of the log. */
export const NOW = "now";

export interface EventsQuery {
  /** Without it, from the beginning. */
  lastEventId?: string;
  limit: number;
  /** Maximum wait for an event, in milliseconds. */
  timeout: number;
  type?: PetEvent["type"];
  /** Only events by which a pet enters, keeps or leaves this status. */
  status?: PetStatus;
}

interface Parameter<Value> {
  description: string;
  /** The values for clients. */
  schema: object;
  /** Parses a value. Calls `refuse` if it is not valid, with a fault that follows the name. */
  parse(value: string, refuse: (fault: string) => never): Value;
}

type Parameters<Query> = { [Name in keyof Query]-?: Parameter<Query[Name]> };

const STATUS_SCHEMA = { $ref: "#/components/schemas/PetStatus" };

export const PAGE_PARAMETERS: Parameters<PageQuery> = {
  limit: integer("The maximum number of animals on a page", LIMIT_MIN, LIMIT_MAX, LIMIT_DEFAULT),
  status: oneOf("Lists only animals of this status; by default all", PET_STATUSES, STATUS_SCHEMA),
  cursor: {
    description: "The start of the page, taken from the `Link` header of the previous page",
    schema: { type: "string", pattern: "^[1-9][0-9]{0,18}$", minLength: 1, maxLength: 19 },
    parse(value, refuse) {
      const cursor = parseDigits(value);
      return cursor >= 1 ? cursor : refuse("must be taken from the Link header of another page");
    },
  },
};

export const EVENTS_PARAMETERS: Parameters<EventsQuery> = {
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
};

export function parsePageQuery(search: string): PageQuery {
  return { limit: LIMIT_DEFAULT, ...parseQuery(search, PAGE_PARAMETERS) };
}

/** Throws `invalid_parameter` and `malformed_request`. A resumed stream sends a newer position in `Last-Event-ID`. */
export function parseEventsQuery(search: string, headers: Headers): EventsQuery {
  const parsed = parseQuery(search, EVENTS_PARAMETERS);
  const query = { limit: EVENTS_LIMIT_DEFAULT, timeout: 0, ...parsed };
  const resumed = headers.get("last-event-id");
  if (resumed === null || resumed === "") return query;
  if (!FEED_ID_PATTERN.test(resumed)) {
    throw new HttpError("malformed_request", "The Last-Event-ID header must be the id of an event");
  }
  return { ...query, lastEventId: resumed };
}

/** The query of the request that continues after an event. */
export function queryAfter(id: string, { limit, timeout, type, status }: EventsQuery): string {
  const filters = Object.entries({ type, status }).filter(([, value]) => value !== undefined);
  const rest = filters.map(([name, value]) => `&${name}=${value}`).join("");
  return `lastEventId=${id}&limit=${limit}&timeout=${timeout}${rest}`;
}

const NEXT_PAGE = "the address of the next page is in the Link header";

/** Parses a query, given without its question mark. Throws `invalid_parameter`. */
export function parseQuery<Query>(search: string, parameters: Parameters<Query>): Partial<Query> {
  const query: Partial<Query> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const refuse = (fault: string) => {
      throw new HttpError("invalid_parameter", `Query parameter ${quoted(name)} ${fault}`);
    };
    if (!Object.hasOwn(parameters, name)) {
      const names = Object.keys(parameters).join(", ");
      const use = /^(offset|page)$/.test(name) ? NEXT_PAGE : `use ${names}`;
      refuse(`is not known: ${names === "" ? "this operation takes none" : use}`);
    }
    const known = name as keyof Query;
    if (Object.hasOwn(query, known)) refuse("is repeated");
    query[known] = parameters[known].parse(value, refuse);
  }
  return query;
}

/** The number of 1 to 19 digits; `NaN` for any other text. */
function parseDigits(value: string): number {
  return /^\d{1,19}$/.test(value) ? Number(value) : NaN;
}

function integer(description: string, minimum: number, maximum: number, byDefault: number) {
  const schema = { type: "integer", format: "int32", minimum, maximum, default: byDefault };
  const parse: Parameter<number>["parse"] = (value, refuse) => {
    const number = parseDigits(value);
    const isValid = number >= minimum && number <= maximum;
    return isValid ? number : refuse(`must be an integer from ${minimum} to ${maximum}`);
  };
  return { description, schema, parse };
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
