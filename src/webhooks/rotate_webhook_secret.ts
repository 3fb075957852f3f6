import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import {
  EXAMPLE_WEBHOOK_WITH_SECRET,
  WEBHOOK_ID,
  WEBHOOK_WITH_SECRET,
  WEBHOOKS_TAG,
} from "./described_webhooks.ts";
import { parseTarget } from "./parse_target.ts";
import { secretResponse } from "./secret_response.ts";
import * as commands from "./write_webhook.ts";

export interface RotateWebhookSecretDeps extends commands.WriteWebhookDeps {
  bodies: BodyReader;
}

export const rotateWebhookSecret: Operation<RotateWebhookSecretDeps> = {
  id: "rotateWebhookSecret",
  method: "POST",
  path: "/webhooks/{webhookId}/secret",
  tag: WEBHOOKS_TAG,
  summary: "Rotate the secret of a webhook",
  description:
    "Gives a webhook another secret, which is shown once, and again only to a retry with the same `Idempotency-Key`. For 24 " +
    "hours, each delivery has a signature of the former secret, too.",
  parameters: [WEBHOOK_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  responses: {
    200: {
      description: "The secret was rotated, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_WRITTEN,
      content: content(WEBHOOK_WITH_SECRET, EXAMPLE_WEBHOOK_WITH_SECRET),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    "webhook_not_found",
    "webhooks_off",
    "precondition_failed",
  ],
  sample: { kind: "POST without a body" },
  kind: "write",
  prepare,
};

async function prepare(deps: RotateWebhookSecretDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  commands.expectKeys(deps);
  await deps.bodies.read(request);
  return async () =>
    secretResponse(200, await commands.rotateWebhookSecret(deps, { ...target, token }));
}
