/** The operation `sendWebhook`: one attempt at once, with an event again or with a test. */

import { type EventFeed, type HeadEntry, type HeadReader, readProof } from "eventstore-less/parts";
import { type Runtime, ServiceError } from "eventstore-less";
import type { Store } from "eventstore-less/store";
import type { ApiRequest } from "../../api/api_request.ts";
import { content } from "../../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES } from "../../api/described_errors.ts";
import { NO_STORE } from "../../api/described_headers.ts";
import { HttpError } from "../../api/errors.ts";
import { type HttpResponse, NEVER_STORED } from "../../api/http_response.ts";
import type { Operation } from "../../api/operation.ts";
import { parseBody } from "../../api/requests/parse_body.ts";
import { parseQuery } from "../../api/requests/query.ts";
import type { BodyReader } from "../../api/requests/request_body.ts";
import { APPLICATION } from "../../application.ts";
import { type ApiKeyReader, expectMayWrite } from "../../keys/api_key_reader.ts";
import { WEBHOOK_ID, WEBHOOKS_TAG } from "../described_webhooks.ts";
import { webhookIdOf } from "../parse_target.ts";
import type { WebhookReader } from "../webhook_reader.ts";
import { expectKeys, expectWebhook, type WriteWebhookDeps } from "../write_webhook.ts";
import { type Delivery, isDelivered, type Message, messageOf, testMessage } from "./delivery.ts";
import {
  ATTEMPT,
  EXAMPLE_ATTEMPT,
  NEW_ATTEMPT,
  NewAttempt,
  shownAttempt,
} from "./described_attempts.ts";

export interface SendWebhookDeps extends Pick<WriteWebhookDeps, "webhookKeys"> {
  apiKeys: ApiKeyReader;
  heads: HeadReader;
  bodies: BodyReader;
  delivery: Delivery | undefined;
  feed: EventFeed;
  runtime: Runtime;
  store: Store;
  webhooks: WebhookReader;
}

export const sendWebhook: Operation<SendWebhookDeps> = {
  id: "sendWebhook",
  method: "POST",
  path: "/webhooks/{webhookId}/attempts",
  tag: WEBHOOKS_TAG,
  summary: "Send an event again, or a test",
  description:
    "Calls the endpoint once, at once, also that of a disabled webhook, and returns what came of it. The deliveries " +
    "continue as they were.",
  parameters: [WEBHOOK_ID],
  body: {
    description: "The event to send again, or `{}` for a test",
    schema: NEW_ATTEMPT,
    example: {},
  },
  responses: {
    200: {
      description: "The attempt, whether it was confirmed or not",
      headers: [NO_STORE],
      content: content(ATTEMPT, EXAMPLE_ATTEMPT),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_JSON_BODIES,
    "malformed_body",
    "request_timeout",
    "body_too_large",
    "read_only_key",
    "webhook_not_found",
    "webhooks_off",
    "feed_reset",
    "overloaded",
  ],
  // It appends nothing, and may take as long as the receiver.
  kind: "wait",
  prepare,
};

async function prepare(
  deps: SendWebhookDeps,
  { request }: ApiRequest,
  entry: HeadEntry,
  token: string,
): Promise<() => Promise<HttpResponse>> {
  const { apiKeys, runtime } = deps;
  if (request.search !== "") parseQuery(request.search, {});
  const id = webhookIdOf(request.path);
  expectMayWrite(await apiKeys.authorize(token, entry.head, runtime.now()));
  return async () => {
    const text = await deps.bodies.readJson(request);
    const { eventId } = parseBody(text, NewAttempt, NewAttempt);
    // The body may have taken long: a webhook that was removed meanwhile is not called.
    return await send(deps, id, eventId, await deps.heads.fresh());
  };
}

async function send(
  deps: SendWebhookDeps,
  id: string,
  eventId: string | undefined,
  entry: HeadEntry,
): Promise<HttpResponse> {
  const { delivery, feed, runtime, store, webhooks } = deps;
  expectKeys(deps);
  const webhook = expectWebhook((await webhooks.asOf(entry.head)).byId, id);
  if (!delivery?.hasKeyOf(webhook)) {
    throw new ServiceError("webhooks_off", "The service has lost the key of the secret");
  }
  const message = eventId === undefined
    ? testMessage(webhook, runtime)
    : await messageOfEvent(feed, store, eventId, entry);
  const attempt = await delivery.sendNow(webhook, message);
  const body = JSON.stringify(shownAttempt({ eventId: message.id, ...attempt }));
  return { status: 200, body, headers: NEVER_STORED };
}

/** Rejects with `feed_reset`, and with `invalid_body` for an event that is not delivered. */
async function messageOfEvent(
  feed: EventFeed,
  store: Store,
  eventId: string,
  entry: HeadEntry,
): Promise<Message> {
  const position = parseInt(eventId);
  await feed.expectPlace({ position, id: eventId }, entry);
  const refusal = new HttpError("invalid_body", 'Field "eventId" names no event of the feed');
  if (position === 0) throw refusal;
  const recorded = await readProof(APPLICATION, store, position);
  if (!isDelivered(recorded.event)) throw refusal;
  return messageOf(recorded);
}
