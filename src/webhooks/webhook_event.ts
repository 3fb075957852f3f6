import type { Recorded } from "eventstore-less";
import type { RecordedEvent } from "../../events/all_events.ts";
import {
  type Webhook,
  WEBHOOK_EVENT_TYPES,
  type WebhookAddedData,
  type WebhookEventBody,
} from "../../events/webhook.ts";

export type WebhookEvent = Recorded<WebhookEventBody>;

export function isWebhookEvent(event: RecordedEvent): event is WebhookEvent {
  return (WEBHOOK_EVENT_TYPES as readonly string[]).includes(event.type);
}

/** The webhook that an event has added. */
export function addedWebhook(
  { id, time, position, data }: Recorded<{ type: string; data: WebhookAddedData }>,
): Webhook {
  const { secretKey, ...terms } = data;
  const secrets = [{ eventId: id, secretKey }];
  return { ...terms, createdAt: time, addedAt: position, secrets };
}

/** The webhook after an event; `undefined` if the event has removed it. */
export function webhookAfter(event: WebhookEvent): Webhook | undefined {
  switch (event.type) {
    case "WebhookAdded":
      return addedWebhook(event);
    case "WebhookRemoved":
      return undefined;
    case "WebhookChanged": {
      const { previous: _, ...webhook } = event.data;
      return webhook;
    }
    default:
      return event.data;
  }
}
