import { andThen, type BackgroundWork, type HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { arrayOf, content } from "../api/component.ts";
import { compressed } from "../api/compression.ts";
import { entityTagOfHash } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import { EXAMPLE_WEBHOOK, WEBHOOK, WEBHOOKS_TAG } from "./described_webhooks.ts";
import type { WebhookReader } from "./webhook_reader.ts";
import { WEBHOOKS_LIMIT } from "./write_webhook.ts";

export interface ListWebhooksDeps {
  background: BackgroundWork;
  webhooks: WebhookReader;
}

export const listWebhooks: Operation<ListWebhooksDeps> = {
  id: "listWebhooks",
  method: "GET",
  path: "/webhooks",
  tag: WEBHOOKS_TAG,
  summary: "List webhooks",
  description: "Lists all webhooks, the oldest first, without their secrets.",
  parameters: [],
  responses: {
    200: {
      description: "All webhooks",
      headers: HEADERS_OF_READS,
      content: content(arrayOf(WEBHOOK, WEBHOOKS_LIMIT), [EXAMPLE_WEBHOOK]),
    },
  },
  errors: ERRORS_OF_ALL,
  kind: "read",
  respond,
};

function respond(
  { background, webhooks }: ListWebhooksDeps,
  { request }: ApiRequest,
  { head }: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (request.search !== "") parseQuery(request.search, {});
  return andThen(webhooks.asOf(head), (all) => {
    const headers = { ...READ_HEADERS, vary: "accept-encoding", etag: entityTagOfHash(all.hash) };
    const response = { status: 200, body: all.text, headers };
    return compressed(response, request.headers, () => background.turn("pages"), all);
  });
}
