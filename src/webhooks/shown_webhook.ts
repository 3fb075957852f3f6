/** A webhook as clients read it. */

import { objectEncoder } from "eventstore-less/encoding";
import { z } from "zod";
import { DisabledReason, NewWebhook, type Webhook } from "../../events/webhook.ts";
import { KEY_ID_SCHEMA, TIME_SCHEMA } from "../api/described_event.ts";

export const ShownWebhook = z.strictObject({
  id: KEY_ID_SCHEMA.describe("The identifier of the webhook, given by the service"),
  ...NewWebhook.shape,
  status: z.enum(["enabled", "disabled"])
    .meta({ description: "Whether the service calls the endpoint" }),
  disabledReason: DisabledReason.optional().meta({
    description:
      "Why the service has disabled the webhook: the endpoint answered 410, or failed for five days",
  }),
  createdAt: TIME_SCHEMA.describe("When the webhook was added"),
});
export type ShownWebhook = z.infer<typeof ShownWebhook>;

export function shownWebhook({ webhookId: id, disabledReason, ...webhook }: Webhook): ShownWebhook {
  const { url, types, description, createdAt } = webhook;
  const status = disabledReason === undefined ? "enabled" : "disabled";
  return { id, url, types, description, status, disabledReason, createdAt };
}

/** The only JSON text of a webhook in responses. */
export const encodeShownWebhook: (webhook: ShownWebhook) => string = objectEncoder(ShownWebhook);
