/** The operation `resumeWebhook`: enables a webhook again, and lets its deliveries continue at once, also after another event. */

import { type EventStore, ServiceError } from "eventstore-less";
import {
  type EventFeed,
  type HeadEntry,
  type HeadReader,
  readConsumersOf,
} from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { EventBody } from "../../../events/all_events.ts";
import type { ApiRequest } from "../../api/api_request.ts";
import { content } from "../../api/component.ts";
import {
  ERRORS_OF_ALL,
  ERRORS_OF_JSON_BODIES,
  ERRORS_OF_WRITES,
} from "../../api/described_errors.ts";
import { HEADERS_OF_WRITTEN } from "../../api/described_headers.ts";
import type { Operation } from "../../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../../api/requests/idempotency_key.ts";
import { parseBody } from "../../api/requests/parse_body.ts";
import type { BodyReader } from "../../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../../api/requests/write_conditions.ts";
import { writtenResponse } from "../../api/written_response.ts";
import { APPLICATION } from "../../application.ts";
import { EXAMPLE_WEBHOOK, WEBHOOK, WEBHOOK_ID, WEBHOOKS_TAG } from "../described_webhooks.ts";
import { parseTarget } from "../parse_target.ts";
import {
  expectKeys,
  expectWebhook,
  stateOf,
  type WebhookRequest,
  type WebhookRule,
  writeWebhook,
  type WriteWebhookDeps,
  writtenOf,
  type WrittenWebhook,
} from "../write_webhook.ts";
import { webhookAfter } from "../webhook_event.ts";
import { consumerOfWebhook } from "./consumer_of_webhook.ts";
import { EXAMPLE_RESUMPTION, NOW, RESUMPTION, Resumption } from "./described_attempts.ts";

export interface ResumeWebhookDeps extends WriteWebhookDeps {
  bodies: BodyReader;
  eventStore: Pick<EventStore<EventBody>, "placeConsumer" | "retryConsumer">;
  feed: EventFeed;
  heads: HeadReader;
  store: Store;
}

interface ResumeWebhookRequest extends WebhookRequest {
  /** The last event that the endpoint should not get, or `now`; by default, the deliveries continue from their place. */
  lastEventId?: string;
}

export const resumeWebhook: Operation<ResumeWebhookDeps> = {
  id: "resumeWebhook",
  method: "POST",
  path: "/webhooks/{webhookId}/resume",
  tag: WEBHOOKS_TAG,
  summary: "Resume a webhook",
  description:
    "Enables a webhook that the service has disabled. Its deliveries continue at once, without the pause after a failure: " +
    "with the event that was not confirmed, or after `lastEventId`, also if the webhook was not disabled.",
  parameters: [WEBHOOK_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  body: {
    description: "Where the deliveries continue; `{}`: from their place",
    schema: RESUMPTION,
    example: EXAMPLE_RESUMPTION,
  },
  responses: {
    200: {
      description: "The webhook is enabled",
      headers: HEADERS_OF_WRITTEN,
      content: content(WEBHOOK, EXAMPLE_WEBHOOK),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "webhook_not_found",
    "webhooks_off",
    "webhook_stopped",
    "feed_reset",
    "precondition_failed",
  ],
  kind: "write",
  prepare,
};

async function prepare(deps: ResumeWebhookDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  const text = await deps.bodies.readJson(request);
  const { lastEventId } = parseBody(text, Resumption, Resumption);
  return async () => writtenResponse(200, await resume(deps, { ...target, lastEventId, token }));
}

/** The place is named after the event is stored, so a request that fails in between has to be sent again. */
async function resume(
  deps: ResumeWebhookDeps,
  request: ResumeWebhookRequest,
): Promise<WrittenWebhook> {
  const { webhookId, lastEventId } = request;
  expectKeys(deps);
  const entry = await deps.heads.fresh();
  expectWebhook((await deps.webhooks.asOf(entry.head)).byId, webhookId);
  if (lastEventId === undefined) await expectPlace(deps, webhookId);
  const position = lastEventId === undefined
    ? undefined
    : await positionOf(deps.feed, lastEventId, entry);
  const { event, isDuplicate, before } = await writeWebhook(deps, request, resumptionRule(request));
  const consumer = consumerOfWebhook(webhookId);
  if (position === undefined) await deps.eventStore.retryConsumer(consumer);
  else await deps.eventStore.placeConsumer(consumer, position);
  const webhook = event === undefined ? before!.byId.get(webhookId)! : webhookAfter(event)!;
  return writtenOf(webhook, isDuplicate);
}

function resumptionRule({ webhookId, ...expectations }: ResumeWebhookRequest): WebhookRule {
  return {
    decide({ byId }) {
      const before = expectWebhook(byId, webhookId, expectations);
      if (before.disabledReason === undefined) return undefined;
      const { disabledReason: _, ...data } = stateOf(before);
      return { type: "WebhookResumed", data, predecessor: before.position };
    },
    isOutcome: ({ type, data }) => type === "WebhookResumed" && data.webhookId === webhookId,
  };
}

/** Rejects with `webhook_stopped` if its consumer is stopped. */
async function expectPlace({ store }: ResumeWebhookDeps, id: string): Promise<void> {
  const consumers = await readConsumersOf(APPLICATION, store);
  const consumer = consumers.find(({ name }) => name === consumerOfWebhook(id));
  if (!consumer?.isStopped) return;
  const message = "Nobody knows which events the endpoint has: send a lastEventId, such as now";
  throw new ServiceError("webhook_stopped", message);
}

/** The position of the last event that the endpoint should not get. Rejects with `feed_reset`. */
async function positionOf(feed: EventFeed, id: string, entry: HeadEntry): Promise<number> {
  if (id === NOW) return entry.head.position;
  const position = parseInt(id);
  await feed.expectPlace({ position, id }, entry);
  return position;
}
