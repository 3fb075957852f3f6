/** A webhook as clients read it. */

import { Instant, objectEncoder, Ulid } from "eventstore-less/encoding";
import { z } from "zod";
import { DisabledReason, NewWebhook, type Webhook } from "../../events/webhook.ts";

export const ShownWebhook = z.strictObject({
  id: Ulid.max(26).meta({ description: "The identifier of the webhook, given by the service" }),
  ...NewWebhook.shape,
  status: z.enum(["enabled", "disabled"])
    .meta({ description: "Whether the service calls the endpoint" }),
  disabledReason: DisabledReason.optional().meta({
    description:
      "Why the service has disabled the webhook: the endpoint answered 410, or failed for five days",
  }),
  createdAt: Instant.max(24).meta({ description: "When the webhook was added" }),
});
export type ShownWebhook = z.infer<typeof ShownWebhook>;

export function shownWebhook({ webhookId: id, disabledReason, ...webhook }: Webhook): ShownWebhook {
  const { url, types, description, createdAt } = webhook;
  const status = disabledReason === undefined ? "enabled" : "disabled";
  return { id, url, types, description, status, disabledReason, createdAt };
}

/** The only JSON text of a webhook in responses. */
export const encodeShownWebhook: (webhook: ShownWebhook) => string = objectEncoder(ShownWebhook);
