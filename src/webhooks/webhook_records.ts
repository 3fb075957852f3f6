/** The subjects of webhooks, and their records: the keys, without the generation, and the contents. */

import { encodeJson } from "eventstore-less";
import type { Webhook } from "../../events/webhook.ts";
import { WEBHOOKS_COLLECTION } from "./webhook_counts.ts";

/** The record of a webhook. Its removal leaves none, because no other webhook gets its id, which is a ULID. */
export const WEBHOOK_KIND = "webhook";

export function webhookKey(id: string) {
  return [WEBHOOK_KIND, id];
}

/** The position of the last event of a webhook, and its whole state. Commands read it by `CollectionReader`. */
export function webhookContentOf(position: number, webhook: Webhook): Uint8Array {
  return encodeJson({ position, ...webhook });
}

/** The subject of the events of a webhook. */
export function webhookSubject(id: string): string {
  return `${WEBHOOKS_COLLECTION}/${id}`;
}
