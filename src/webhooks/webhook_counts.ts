/** The counts of webhooks in the head. */

import type { Head } from "eventstore-less";
import { WEBHOOK_EVENT_TYPES } from "../../events/webhook.ts";

export const WEBHOOKS_COLLECTION = "webhooks";

/** The count of the webhooks that are not removed. */
export const PRESENT = "present";

export function webhookCount({ counts }: Pick<Head, "counts">): number {
  return counts[WEBHOOKS_COLLECTION]?.[PRESENT] ?? 0;
}

/** Position of the last event of a webhook; 0 without one. */
export function webhookPositionOf({ types }: Pick<Head, "types">): number {
  return Math.max(...WEBHOOK_EVENT_TYPES.map((type) => types[type]?.last ?? 0));
}
