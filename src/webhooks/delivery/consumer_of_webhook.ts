import { WEBHOOKS_COLLECTION } from "../webhook_counts.ts";

/** The name of the consumer that delivers to the endpoint of a webhook. */
export function consumerOfWebhook(id: string): string {
  return `${WEBHOOKS_COLLECTION}/${id}`;
}
