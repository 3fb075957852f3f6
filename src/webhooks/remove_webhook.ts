import type { ApiRequest } from "../api/api_request.ts";
import { ERRORS_OF_ALL, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_REMOVALS } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { removedResponse } from "../api/written_response.ts";
import { WEBHOOK_ID, WEBHOOKS_TAG } from "./described_webhooks.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_webhook.ts";

export interface RemoveWebhookDeps extends commands.WriteWebhookDeps {
  bodies: BodyReader;
}

export const removeWebhook: Operation<RemoveWebhookDeps> = {
  id: "removeWebhook",
  method: "DELETE",
  path: "/webhooks/{webhookId}",
  tag: WEBHOOKS_TAG,
  summary: "Remove a webhook",
  description: "Removes a webhook. Its endpoint gets nothing more, and nothing brings it back.",
  parameters: [WEBHOOK_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  responses: {
    204: {
      description:
        "The webhook was removed, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_REMOVALS,
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    "webhook_not_found",
    "webhooks_off",
    "precondition_failed",
  ],
  kind: "write",
  prepare,
};

async function prepare(deps: RemoveWebhookDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  commands.expectKeys(deps);
  await deps.bodies.read(request);
  return async () => removedResponse(await commands.removeWebhook(deps, { ...target, token }));
}
