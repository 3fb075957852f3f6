/** The schemas and examples of the attempts of a webhook. */

import { ULID } from "eventstore-less/encoding";
import { FEED_ID_PATTERN } from "eventstore-less/parts";
import type { ConsumerReport } from "eventstore-less/tools";
import { z } from "zod";
import { schemaComponent } from "../../api/component.ts";
import { EXAMPLE_EVENT_ID, TIME_SCHEMA } from "../../api/described_event.ts";
import { ATTEMPT_ERRORS, type AttemptError } from "../sending/attempt.ts";
import { ATTEMPTS_KEPT, type NotedAttempt } from "./attempt_log.ts";
import { DELIVERY_STATES } from "./delivery_state.ts";

/** Maximum length of the id of an event or a test. */
const ID_MAX_LENGTH = 33;

/** Maximum length of what is kept of a response, in characters. */
const ANSWER_MAX_LENGTH = 1_024;

/** The id of an event in the feed, or of a test. */
const MESSAGE_ID_PATTERN = new RegExp(`${FEED_ID_PATTERN.source}|^test-${ULID}$`);

const ERRORS = Object.keys(ATTEMPT_ERRORS) as [AttemptError, ...AttemptError[]];

const Attempt = z.strictObject({
  eventId: z.string().regex(MESSAGE_ID_PATTERN).max(ID_MAX_LENGTH)
    .meta({ description: "The `webhook-id`: that of the event, or of a test" }),
  time: TIME_SCHEMA.meta({ description: "When the attempt began" }),
  durationMs: z.int().min(0).meta({ description: "How long it took", format: "int32" }),
  status: z.int().min(100).max(999).optional()
    .meta({
      description: "The status of the response; it confirms the event if it is 2xx",
      format: "int32",
    }),
  error: z.enum(ERRORS).optional().meta({ description: "Why there was no response" }),
  answer: z.string().max(ANSWER_MAX_LENGTH).optional()
    .meta({ description: "The beginning of the body of a response that is not 2xx" }),
});

export const ATTEMPT = schemaComponent("WebhookAttempt", Attempt);

export const WEBHOOK_DELIVERY = schemaComponent(
  "WebhookDelivery",
  z.strictObject({
    state: z.enum(DELIVERY_STATES).meta({
      description:
        "`failing`: the next event is not confirmed yet. `stopped`: after a restore, a position must be named. `disabled`: " +
        "the webhook is. `off`: the service lacks the key of its secret",
    }),
    lag: z.int().min(0).meta({
      description: "Number of entries of the log after the last one that was delivered or passed",
      format: "int64",
    }),
    failing: z.strictObject({
      since: TIME_SCHEMA.meta({ description: "When the first of its attempts failed" }),
      attempts: z.int().min(1).meta({ description: "Number of failures", format: "int32" }),
      reason: z.string().max(200).meta({ description: "The last failure, for people" }),
    }).optional().meta({ description: "The failures at the next event" }),
    attempts: z.array(Attempt).max(ATTEMPTS_KEPT)
      .meta({ description: "The last attempts, the latest one first" }),
  }),
);

export const EXAMPLE_ATTEMPT = {
  eventId: EXAMPLE_EVENT_ID,
  time: "2026-01-02T03:04:05.678Z",
  durationMs: 31,
  status: 500,
  answer: "Internal Server Error",
};

export const EXAMPLE_DELIVERY = {
  state: "failing",
  lag: 2,
  failing: { since: EXAMPLE_ATTEMPT.time, attempts: 1, reason: "The receiver answered 500" },
  attempts: [EXAMPLE_ATTEMPT],
};

const NOT_AN_ID = "must be the id of an event";

/** The body of a request to send. */
export const NewAttempt = z.strictObject({
  eventId: z.string(NOT_AN_ID).regex(FEED_ID_PATTERN, NOT_AN_ID).max(ID_MAX_LENGTH).optional()
    .meta({
      description: "The event to send again; absent: a test",
      examples: [EXAMPLE_EVENT_ID],
    }),
});

export const NEW_ATTEMPT = schemaComponent("NewWebhookAttempt", NewAttempt);

/** The body of a request to resume. */
export const Resumption = z.strictObject({
  lastEventId: z.string(NOT_AN_ID).regex(FEED_ID_PATTERN, NOT_AN_ID).max(ID_MAX_LENGTH).optional()
    .meta({
      description: "The last event that the endpoint should not get; absent: from its place",
      examples: [EXAMPLE_EVENT_ID],
    }),
});

export const RESUMPTION = schemaComponent("WebhookResumption", Resumption);

export const EXAMPLE_RESUMPTION = { lastEventId: EXAMPLE_EVENT_ID };

/** The failures at an event as clients read them. */
export function shownFailing({ since, attempts, reason }: NonNullable<ConsumerReport["failing"]>) {
  return { since, attempts, reason };
}

/** An attempt as clients read it. */
export function shownAttempt({ eventId, time, durationMs, status, error, answer }: NotedAttempt) {
  const begin = answer?.slice(0, ANSWER_MAX_LENGTH).toWellFormed();
  return { eventId, time, durationMs, status, error, answer: begin };
}
