import { WebhookPatch } from "../../events/webhook.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { ACCEPT_PATCH_HEADER, HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import { parsePatch } from "../api/requests/parse_body.ts";
import { type BodyReader, PATCH_TYPES } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { writtenResponse } from "../api/written_response.ts";
import { type CallableDeps, expectCallable } from "./callable_url.ts";
import {
  EXAMPLE_WEBHOOK,
  WEBHOOK,
  WEBHOOK_ID,
  WEBHOOK_PATCH,
  WEBHOOKS_TAG,
} from "./described_webhooks.ts";
import { parseTarget } from "./parse_target.ts";
import { ShownWebhook } from "./shown_webhook.ts";
import * as commands from "./write_webhook.ts";

export interface UpdateWebhookDeps extends commands.WriteWebhookDeps, CallableDeps {
  bodies: BodyReader;
}

const EXAMPLE_PATCH = { types: ["PetCreated"] };

export const updateWebhook: Operation<UpdateWebhookDeps> = {
  id: "updateWebhook",
  method: "PATCH",
  path: "/webhooks/{webhookId}",
  tag: WEBHOOKS_TAG,
  summary: "Change a webhook",
  description:
    "Changes the terms in the body, a JSON Merge Patch (RFC 7396), from the next delivery on. The secret, and the place in " +
    "the log, stay as they are. If nothing changes, the `Idempotency-Key` is not remembered.",
  parameters: [WEBHOOK_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  body: {
    description: "The terms to change, with their new values",
    schema: WEBHOOK_PATCH,
    example: EXAMPLE_PATCH,
    types: PATCH_TYPES,
  },
  responses: {
    200: {
      description:
        "The webhook as it is after the change, or as an earlier request with the same key left it",
      headers: HEADERS_OF_WRITTEN,
      content: content(WEBHOOK, { ...EXAMPLE_WEBHOOK, ...EXAMPLE_PATCH }),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "webhook_not_found",
    "webhooks_off",
    "precondition_failed",
  ],
  errorHeaders: { 415: [ACCEPT_PATCH_HEADER] },
  kind: "write",
  prepare,
};

async function prepare(deps: UpdateWebhookDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  commands.expectKeys(deps);
  const patch = parsePatch(await deps.bodies.readJson(request), WebhookPatch, ShownWebhook);
  if (patch.url !== undefined) expectCallable(patch.url, deps);
  return async () =>
    writtenResponse(200, await commands.updateWebhook(deps, { ...target, patch, token }));
}
