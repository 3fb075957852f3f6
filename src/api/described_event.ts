/** The description of events, for all operations that show some. */

import { ULID } from "eventstore-less/encoding";
import { FEED_ID_PATTERN, schemaOf, sequenceOf } from "eventstore-less/parts";
import { APPLICATION } from "../application.ts";
import { z } from "zod";
import { LABEL_MAX_LENGTH } from "../../events/api_key.ts";
import type { Tag } from "./operation.ts";

export const EVENTS_TAG: Tag = {
  name: "Events",
  description: "How the animals and categories came to be as they are",
};

/** The schemas of the id of an API key, and of a time in UTC with milliseconds. */
export const KEY_ID_SCHEMA = z.string().regex(new RegExp(`^${ULID}$`)).max(26);
export const TIME_SCHEMA = z.string().meta({ format: "date-time", maxLength: 24 });

export const EXAMPLE_ULID = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B";

const EXAMPLE_POSITION = 2;

/** The id of the first event after the issue of the API key. */
export const EXAMPLE_EVENT_ID = `${sequenceOf(EXAMPLE_POSITION)}-9c1f04a6d2e87b35`;

interface EventForm {
  types: readonly string[];
  /** The subject of the events. */
  subject: { pattern: RegExp; maxLength: number };
  data: z.ZodType;
  /** A word for what the events are about. */
  resource: string;
  description: string;
}

/** The schema of a CloudEvent, as `encodePublicEvent` writes it. */
export function eventSchema({ types, subject, data, resource, description }: EventForm) {
  const dataschema = new RegExp(
    `^(${types.map((type) => schemaOf(APPLICATION, type)).join("|")}):[1-9][0-9.]*$`,
  );
  return z.strictObject({
    specversion: z.literal("1.0"),
    id: z.string().regex(FEED_ID_PATTERN).max(33)
      .describe("The position of the event in the log, and a part of its hash. Ids sort as texts"),
    source: z.literal(APPLICATION.eventSource),
    type: z.enum(types),
    time: TIME_SCHEMA,
    sequence: z.string().regex(/^\d{16}$/).max(16),
    subject: z.string().regex(subject.pattern).max(subject.maxLength),
    dataschema: z.string().regex(dataschema).max(100),
    actor: KEY_ID_SCHEMA.optional().describe(
      `The id of the API key that caused the event; only in the events of one ${resource}, and with \`actors\``,
    ),
    actorlabel: z.string().max(LABEL_MAX_LENGTH).optional().describe(
      "The label of that API key; only for an API key that may write",
    ),
    datacontenttype: z.literal("application/json"),
    data,
  }).describe(description);
}

/** An example of such an event, the first one in a store. */
export function exampleEvent(type: string, subject: string, data: object) {
  return {
    specversion: "1.0",
    id: EXAMPLE_EVENT_ID,
    source: APPLICATION.eventSource,
    type,
    time: "2026-01-02T03:04:05.678Z",
    sequence: sequenceOf(EXAMPLE_POSITION),
    subject,
    dataschema: `${schemaOf(APPLICATION, type)}:1`,
    datacontenttype: "application/json",
    data,
  };
}
