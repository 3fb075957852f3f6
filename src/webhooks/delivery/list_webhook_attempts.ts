/** The operation `listWebhookAttempts`: how far the deliveries of a webhook are, and their last attempts. */

import type { HeadEntry } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { ApiRequest } from "../../api/api_request.ts";
import { content } from "../../api/component.ts";
import { entityTag } from "../../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../../api/described_errors.ts";
import { HEADERS_OF_READS } from "../../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../../api/http_response.ts";
import type { Operation } from "../../api/operation.ts";
import { parseQuery } from "../../api/requests/query.ts";
import { WEBHOOK_ID, WEBHOOKS_TAG } from "../described_webhooks.ts";
import { webhookIdOf } from "../parse_target.ts";
import type { WebhookReader } from "../webhook_reader.ts";
import { expectWebhook } from "../write_webhook.ts";
import type { AttemptLog } from "./attempt_log.ts";
import { readConsumerOfWebhook } from "./consumer_of_webhook.ts";
import type { Delivery } from "./delivery.ts";
import { deliveryStateOf } from "./delivery_state.ts";
import {
  EXAMPLE_DELIVERY,
  shownAttempt,
  shownFailing,
  WEBHOOK_DELIVERY,
} from "./described_attempts.ts";

export interface ListWebhookAttemptsDeps {
  attempts: AttemptLog;
  delivery: Delivery | undefined;
  store: Store;
  webhooks: WebhookReader;
}

export const listWebhookAttempts: Operation<ListWebhookAttemptsDeps> = {
  id: "listWebhookAttempts",
  method: "GET",
  path: "/webhooks/{webhookId}/attempts",
  tag: WEBHOOKS_TAG,
  summary: "List the last attempts of a webhook",
  description:
    "Returns how far the deliveries of a webhook are, and its last attempts. They are no part of the log, and may be some " +
    "seconds old.",
  parameters: [WEBHOOK_ID],
  responses: {
    200: {
      description: "The state of the deliveries, and the last attempts",
      headers: HEADERS_OF_READS,
      content: content(WEBHOOK_DELIVERY, EXAMPLE_DELIVERY),
    },
  },
  errors: [...ERRORS_OF_ALL, "webhook_not_found"],
  kind: "read",
  respond,
};

async function respond(
  { attempts, delivery, store, webhooks }: ListWebhookAttemptsDeps,
  { request: { path, search } }: ApiRequest,
  { head }: HeadEntry,
): Promise<HttpResponse> {
  if (search !== "") parseQuery(search, {});
  const id = webhookIdOf(path);
  const webhook = expectWebhook((await webhooks.asOf(head)).byId, id);
  const consumer = await readConsumerOfWebhook(store, id);
  const body = JSON.stringify({
    state: deliveryStateOf(webhook, consumer, delivery?.hasKeyOf(webhook) ?? false),
    lag: consumer?.lag ?? head.position - webhook.addedAt,
    failing: consumer?.failing && shownFailing(consumer.failing),
    attempts: (await attempts.read(id)).map(shownAttempt),
  });
  return { status: 200, body, headers: { ...READ_HEADERS, etag: entityTag(body) } };
}
