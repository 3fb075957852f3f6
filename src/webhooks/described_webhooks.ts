/** The schemas, examples and tag that the described operations of webhooks share. */

import { ULID } from "eventstore-less/encoding";
import { NewWebhook, WebhookPatch } from "../../events/webhook.ts";
import { z } from "zod";
import { schemaComponent } from "../api/component.ts";
import { EXAMPLE_ULID } from "../api/described_event.ts";
import { pattern } from "../api/described_headers.ts";
import type { Tag } from "../api/operation.ts";
import { ShownWebhook } from "./shown_webhook.ts";

export const WEBHOOKS_TAG: Tag = {
  name: "Webhook endpoints",
  description: "Endpoints that the service calls when something has happened",
};

export const WEBHOOK = schemaComponent("Webhook", ShownWebhook);

export const WEBHOOK_INPUT = schemaComponent(
  "WebhookInput",
  NewWebhook.meta({
    title: "NewWebhook",
    description: "The body of a request to add a webhook",
  }),
);

export const WEBHOOK_PATCH = schemaComponent(
  "WebhookPatch",
  WebhookPatch.meta({
    title: "WebhookPatch",
    description: "The terms to change, with their new values; `null` removes one",
    minProperties: 1,
  }),
);

/** The secret of a webhook in base64, with the prefix of Standard Webhooks. */
const SECRET = z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/).max(50).meta({
  description: "The new secret, which no other response shows",
});

export const WEBHOOK_WITH_SECRET = schemaComponent(
  "WebhookWithSecret",
  ShownWebhook.extend({ secret: SECRET }),
);

export const EXAMPLE_NEW_WEBHOOK = {
  url: "https://shop.example/hooks",
  types: ["PetCreated", "PetUpdated"],
};

export const EXAMPLE_WEBHOOK = {
  id: EXAMPLE_ULID,
  ...EXAMPLE_NEW_WEBHOOK,
  status: "enabled",
  createdAt: "2026-01-02T03:04:05.678Z",
};

export const EXAMPLE_WEBHOOK_WITH_SECRET = {
  ...EXAMPLE_WEBHOOK,
  secret: "whsec_b82de3W8u+l7tf1tJUJCno1GG5/vQg4g9qsPHRSUg2w=",
};

/** The parameter `{webhookId}` of a path. */
export const WEBHOOK_ID = {
  name: "webhookId",
  in: "path",
  required: true,
  description: "The identifier of the webhook",
  schema: pattern(`^${ULID}$`, 26),
  example: EXAMPLE_ULID,
} as const;
