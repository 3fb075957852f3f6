import { readConsumersOf } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { ConsumerReport } from "eventstore-less/tools";
import { APPLICATION } from "../../application.ts";
import { WEBHOOKS_COLLECTION } from "../webhook_counts.ts";

/** The name of the consumer that delivers to the endpoint of a webhook. */
export function consumerOfWebhook(id: string): string {
  return `${WEBHOOKS_COLLECTION}/${id}`;
}

/** That consumer as the store knows it; `undefined` if it has no place and was not found to be stopped. */
export async function readConsumerOfWebhook(
  store: Store,
  id: string,
): Promise<ConsumerReport | undefined> {
  const consumers = await readConsumersOf(APPLICATION, store);
  return consumers.find(({ name }) => name === consumerOfWebhook(id));
}
