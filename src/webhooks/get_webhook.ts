import { andThen, type HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import { EXAMPLE_WEBHOOK, WEBHOOK, WEBHOOK_ID, WEBHOOKS_TAG } from "./described_webhooks.ts";
import { webhookIdOf } from "./parse_target.ts";
import type { WebhookReader } from "./webhook_reader.ts";
import { expectWebhook } from "./write_webhook.ts";

export interface GetWebhookDeps {
  webhooks: WebhookReader;
}

export const getWebhook: Operation<GetWebhookDeps> = {
  id: "getWebhook",
  method: "GET",
  path: "/webhooks/{webhookId}",
  tag: WEBHOOKS_TAG,
  summary: "Get a webhook",
  description: "Returns a webhook without its secret. Its `ETag` is for use in `If-Match`.",
  parameters: [WEBHOOK_ID],
  responses: {
    200: {
      description: "The webhook",
      headers: HEADERS_OF_READS,
      content: content(WEBHOOK, EXAMPLE_WEBHOOK),
    },
  },
  errors: [...ERRORS_OF_ALL, "webhook_not_found"],
  kind: "read",
  respond,
};

function respond(
  { webhooks }: GetWebhookDeps,
  { request: { path, search } }: ApiRequest,
  { head }: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (search !== "") parseQuery(search, {});
  const id = webhookIdOf(path);
  return andThen(webhooks.asOf(head), ({ byId }) => {
    const { text } = expectWebhook(byId, id);
    return { status: 200, body: text, headers: { ...READ_HEADERS, etag: entityTag(text) } };
  });
}
