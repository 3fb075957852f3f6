import type { EventStore } from "eventstore-less";
import type { EventBody } from "../../../events/all_events.ts";
import type { DisabledReason } from "../../../events/webhook.ts";
import { WEBHOOKS_COLLECTION } from "../webhook_counts.ts";
import type { WebhookReader, WebhookRecord } from "../webhook_reader.ts";
import { stateOf } from "../write_webhook.ts";

export interface DisableWebhookDeps {
  append: EventStore<EventBody>["append"];
  webhooks: WebhookReader;
}

/**
 * The command of the service itself: disables a webhook, unless it was changed, resumed or removed since `seen`. Resolves to
 * whether it did. Rejects with the errors of {@linkcode EventStore.append}.
 */
export async function disableWebhook(
  { append, webhooks }: DisableWebhookDeps,
  seen: WebhookRecord,
  disabledReason: DisabledReason,
): Promise<boolean> {
  const { id, position: predecessor } = seen;
  const { events } = await append<WebhookRecord | undefined>({
    // Each command of a webhook is decided on all of them, as those of clients.
    group: WEBHOOKS_COLLECTION,
    prepare: async ({ head }) => (await webhooks.proven(head)).byId.get(id),
    decide(_head, { prepared: webhook }) {
      if (webhook?.position !== predecessor || webhook.disabledReason !== undefined) return [];
      const data = { ...stateOf(webhook), disabledReason };
      return [{ type: "WebhookDisabled", data, predecessor }];
    },
  });
  return events.length > 0;
}
