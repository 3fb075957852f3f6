/** The query of the feed: each parameter with its description and its parser. */

import { FEED_ID_PATTERN } from "eventstore-less/parts";
import { APPLICATION } from "../application.ts";
import { z } from "zod";
import { PET_STATUSES } from "../../events/pet.ts";
import { PET_STATUS } from "../animals/described_pets.ts";
import { HttpError } from "../api/errors.ts";
import type { RequestHeaders } from "../runtime/service_request.ts";
import {
  combinedError,
  integer,
  oneOf,
  type Parameter,
  parseQuery,
  queryOf,
} from "../api/requests/query.ts";

export const EVENTS_LIMIT_MAX = 1_000;
export const EVENTS_LIMIT_DEFAULT = 100;

/** Longest wait of a request for events, in milliseconds. */
export const EVENTS_TIMEOUT_MAX = 30_000;

/** The types that the feed shows. */
export const SHOWN_TYPES = APPLICATION.eventTypes.filter((type) =>
  APPLICATION.events[type].shown !== undefined
);

/** Matches the value of `lastEventId` that means the end of the log, or a place so many lines before it. */
const FROM_END_PATTERN = /^now(?:-([1-9]\d{0,8}))?$/;

/** The number of lines between the place that such a value means and the end; `undefined` for the id of an event. */
export function linesFromEnd(lastEventId: string): number | undefined {
  const [isFromEnd, count] = FROM_END_PATTERN.exec(lastEventId) ?? [];
  return isFromEnd === undefined ? undefined : Number(count ?? 0);
}

export const EVENTS_PARAMETERS = {
  lastEventId: {
    description:
      "Lists only the events after the one with this `id`, later ones (`now`), or also the last " +
      "ones (`now-100`: those among the last 100 entries of the log); by default all",
    schema: {
      type: "string",
      pattern: `^(${FROM_END_PATTERN.source.slice(1, -1)}|${FEED_ID_PATTERN.source.slice(1, -1)})$`,
      maxLength: 33,
    },
    parse(value, refuse) {
      const isPlace = linesFromEnd(value) !== undefined || FEED_ID_PATTERN.test(value);
      return isPlace ? value : refuse("must be the id of an event, or now");
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
  actors: oneOf("With `true`, each event has its `actor`, as in the history of an animal", [
    "true",
  ]),
  type: oneOf("Lists only events of this type", SHOWN_TYPES),
  status: oneOf(
    "Lists only events by which an animal enters, keeps or leaves this status",
    PET_STATUSES,
    PET_STATUS,
  ),
} satisfies Record<string, Parameter<unknown>>;

export type EventsQuery = ReturnType<typeof parseEventsQuery>;

/** Throws `invalid_parameter` and `malformed_request`. A resumed stream sends a newer position in `Last-Event-ID`. */
export function parseEventsQuery(search: string, headers: RequestHeaders) {
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
export function queryAfter(
  id: string,
  { limit, timeout, actors, type, status }: EventsQuery,
): string {
  return queryOf({ lastEventId: id, limit, timeout, actors, type, status });
}
