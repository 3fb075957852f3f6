import type { ConsumerReport } from "eventstore-less/tools";
import type { Webhook } from "../../../events/webhook.ts";

/** How the deliveries of a webhook can be. */
export const DELIVERY_STATES = ["working", "failing", "stopped", "disabled", "off"] as const;

/** How the deliveries of a webhook are, by its consumer in the store, if it has begun. */
export function deliveryStateOf(
  { disabledReason }: Pick<Webhook, "disabledReason">,
  consumer: ConsumerReport | undefined,
  hasKey: boolean,
): typeof DELIVERY_STATES[number] {
  if (disabledReason !== undefined) return "disabled";
  if (!hasKey) return "off";
  if (consumer?.isStopped) return "stopped";
  return consumer?.failing === undefined ? "working" : "failing";
}
