import { PET_EVENT_TYPES, type PetEvent } from "../../../events/event.ts";
import type { PetStatus } from "../../../events/pet.ts";
import { FEED_ID_PATTERN } from "../../projections/event_feed.ts";
import { HttpError } from "../errors.ts";
import { integerFrom, parseQuery, parseStatus } from "./query.ts";

export const EVENTS_LIMIT_MAX = 1_000;
export const EVENTS_LIMIT_DEFAULT = 100;

/** Longest wait of a request for events, in milliseconds. */
export const EVENTS_TIMEOUT_MAX = 30_000;

/** The value of `lastEventId` that means the end of the log. */
export const NOW = "now";

export interface EventsQuery {
  /** Only later events; without it, from the beginning. */
  lastEventId?: string;
  limit: number;
  /** How long to wait for an event if there is none, in milliseconds. */
  timeout: number;
  type?: PetEvent["type"];
  /** Only events by which a pet enters, keeps or leaves this status. */
  status?: PetStatus;
}

const PARSERS: Parameters<typeof parseQuery<EventsQuery>>[1] = {
  lastEventId(value, refuse) {
    return value === NOW || FEED_ID_PATTERN.test(value)
      ? value
      : refuse(`must be the id of an event, or ${NOW}`);
  },
  limit: integerFrom(1, EVENTS_LIMIT_MAX),
  timeout: integerFrom(0, EVENTS_TIMEOUT_MAX),
  type(value, refuse) {
    const type = PET_EVENT_TYPES.find((it) => it === value);
    return type ?? refuse(`must be one of ${PET_EVENT_TYPES.join(", ")}`);
  },
  status: parseStatus,
};

/**
 * Parses the query of `GET /events`, given without its question mark. A client that resumes a stream sends its position in
 * `Last-Event-ID`, which is newer than that of the address. Throws `invalid_parameter` and `malformed_request`.
 */
export function parseEventsQuery(search: string, headers: Headers): EventsQuery {
  const query = {
    limit: EVENTS_LIMIT_DEFAULT,
    timeout: 0,
    ...parseQuery<EventsQuery>(search, PARSERS),
  };
  const resumed = headers.get("last-event-id");
  if (resumed === null || resumed === "") return query;
  if (!FEED_ID_PATTERN.test(resumed)) {
    throw new HttpError("malformed_request", "The Last-Event-ID header must be the id of an event");
  }
  return { ...query, lastEventId: resumed };
}

/** The query of the request that continues after an event. */
export function queryAfter(id: string, query: EventsQuery): string {
  const { limit, timeout, type, status } = query;
  const filters = Object.entries({ type, status }).filter(([, value]) => value !== undefined);
  const rest = filters.map(([name, value]) => `&${name}=${value}`).join("");
  return `lastEventId=${id}&limit=${limit}&timeout=${timeout}${rest}`;
}
