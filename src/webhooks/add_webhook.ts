import type { EventStore } from "eventstore-less";
import type { EventBody } from "../../events/all_events.ts";
import { ULID } from "eventstore-less/encoding";
import { NewWebhook } from "../../events/webhook.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { addressPattern, always, HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseBody } from "../api/requests/parse_body.ts";
import { parseQuery } from "../api/requests/query.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { type CallableDeps, expectCallable } from "./callable_url.ts";
import {
  EXAMPLE_NEW_WEBHOOK,
  EXAMPLE_WEBHOOK,
  EXAMPLE_WEBHOOK_WITH_SECRET,
  WEBHOOK_INPUT,
  WEBHOOK_WITH_SECRET,
  WEBHOOKS_TAG,
} from "./described_webhooks.ts";
import { secretResponse } from "./secret_response.ts";
import { ShownWebhook } from "./shown_webhook.ts";
import { WEBHOOKS_COLLECTION } from "./webhook_counts.ts";
import * as commands from "./write_webhook.ts";

export interface AddWebhookDeps extends commands.WriteWebhookDeps, CallableDeps {
  bodies: BodyReader;
  eventStore: Pick<EventStore<EventBody>, "registerConsumers">;
}

const LOCATION = always(
  "Location.webhook",
  "The address of the webhook that was added",
  addressPattern(`/webhooks/${ULID}`),
  `${EXAMPLE_BASE}/webhooks/${EXAMPLE_WEBHOOK.id}`,
);

export const addWebhook: Operation<AddWebhookDeps> = {
  id: "addWebhook",
  method: "POST",
  path: "/webhooks",
  tag: WEBHOOKS_TAG,
  summary: "Add a webhook",
  description:
    "Adds an endpoint that the service calls with each event after this one. Keep its `secret`, with which the endpoint " +
    "verifies the calls: it is shown once, and again only to a retry with the same `Idempotency-Key`. The `url` begins " +
    "with `https://`, and leads to no private address, unless the operator allows it. There are at most " +
    `${commands.WEBHOOKS_LIMIT} webhooks.`,
  parameters: [IDEMPOTENCY_KEY],
  body: {
    description: "The terms of the webhook",
    schema: WEBHOOK_INPUT,
    example: EXAMPLE_NEW_WEBHOOK,
  },
  responses: {
    201: {
      description: "The webhook was added, by this request or by an earlier one with the same key",
      headers: [LOCATION, ...HEADERS_OF_WRITTEN],
      content: content(WEBHOOK_WITH_SECRET, EXAMPLE_WEBHOOK_WITH_SECRET),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "too_many_webhooks",
    "webhooks_off",
  ],
  kind: "write",
  prepare,
};

async function prepare(deps: AddWebhookDeps, { request, baseUrl }: ApiRequest, token: string) {
  if (request.search !== "") parseQuery(request.search, {});
  const idempotencyKey = parseIdempotencyKey(request.headers);
  commands.expectKeys(deps);
  const terms = parseBody(await deps.bodies.readJson(request), NewWebhook, ShownWebhook);
  expectCallable(terms.url, deps);
  return async () => {
    // The record of the places must be older than the event `WebhookAdded`. Then a webhook without a place is new, and
    // its deliveries begin. If it were younger, a place might have been lost with an earlier record, and they would wait
    // until somebody names one.
    await deps.eventStore.registerConsumers(WEBHOOKS_COLLECTION);
    const added = await commands.addWebhook(deps, { terms, token, idempotencyKey });
    return secretResponse(201, added, { location: `${baseUrl}/webhooks/${added.id}` });
  };
}
