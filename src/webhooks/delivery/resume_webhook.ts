/** The operation `resumeWebhook`: enables a webhook again, and lets its deliveries continue at once, also after another event. */

import { type EventStore, ServiceError } from "eventstore-less";
import { type EventFeed, type HeadEntry, type HeadReader } from "eventstore-less/parts";
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
import { parseBody } from "../../api/requests/parse_body.ts";
import type { BodyReader } from "../../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../../api/requests/write_conditions.ts";
import { writtenResponse } from "../../api/written_response.ts";
import { expectMayWrite } from "../../keys/api_key_reader.ts";
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
import { consumerOfWebhook, readConsumerOfWebhook } from "./consumer_of_webhook.ts";
import { EXAMPLE_RESUMPTION, RESUMPTION, Resumption } from "./described_attempts.ts";

export interface ResumeWebhookDeps extends WriteWebhookDeps {
  bodies: BodyReader;
  eventStore: Pick<EventStore<EventBody>, "needsPlace" | "placeConsumer" | "retryConsumer">;
  feed: EventFeed;
  heads: HeadReader;
  store: Store;
}

interface ResumeWebhookRequest extends WebhookRequest {
  /** The last event that the endpoint should not get; by default, the deliveries continue from their place. */
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
  parameters: [WEBHOOK_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE],
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
  const { webhookId, ...conditions } = parseTarget(request);
  const text = await deps.bodies.readJson(request);
  const { lastEventId } = parseBody(text, Resumption, Resumption);
  const target = { webhookId, ...conditions, idempotencyKey: undefined };
  return async () => writtenResponse(200, await resume(deps, { ...target, lastEventId, token }));
}

/** A request that is repeated names the same place again, so it needs no Idempotency-Key. */
async function resume(
  deps: ResumeWebhookDeps,
  request: ResumeWebhookRequest,
): Promise<WrittenWebhook> {
  const { apiKeys, eventStore, heads, runtime, store, webhooks } = deps;
  const { webhookId, lastEventId, token } = request;
  expectKeys(deps);
  const entry = await heads.fresh();
  expectMayWrite(await apiKeys.authorize(token, entry.head, runtime.now()));
  const { byId } = await webhooks.asOf(entry.head);
  const rule = resumptionRule(request);
  rule.decide({ byId, time: new Date(runtime.now()).toISOString() });
  const name = consumerOfWebhook(webhookId);
  // A new place is stored before the event `WebhookResumed`. In the other order, an instance could see the webhook
  // enabled, and send what follows the old place. If the event cannot be stored, the client repeats the request.
  if (lastEventId === undefined) {
    const { addedAt } = byId.get(webhookId)!;
    if (await eventStore.needsPlace(name, addedAt)) throw stoppedError();
    const consumer = await readConsumerOfWebhook(store, webhookId);
    if (consumer?.failing !== undefined) await eventStore.retryConsumer(name);
  } else {
    await eventStore.placeConsumer(name, await positionOf(deps.feed, lastEventId, entry));
  }
  const { event, isDuplicate, before } = await writeWebhook(deps, request, rule);
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

function stoppedError(): ServiceError {
  const message = "Nobody knows which events the endpoint has: send a lastEventId";
  return new ServiceError("webhook_stopped", message);
}

/** The position of the last event that the endpoint should not get. Rejects with `feed_reset`. */
async function positionOf(feed: EventFeed, id: string, entry: HeadEntry): Promise<number> {
  const position = parseInt(id);
  await feed.expectPlace({ position, id }, entry);
  return position;
}
