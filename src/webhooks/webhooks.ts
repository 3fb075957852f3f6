/** All that the engine must know of webhooks: their events, and the records that these make. The feed shows none of them. */

import type { Collection, EventDefinition, EventDefinitions } from "eventstore-less";
import { Ulid } from "eventstore-less/encoding";
import { type Webhook, WEBHOOK_EVENT_DATA, type WebhookEventBody } from "../../events/webhook.ts";
import { PRESENT, WEBHOOKS_COLLECTION } from "./webhook_counts.ts";
import { addedWebhook } from "./webhook_event.ts";
import { WebhookHistory } from "./webhook_history.ts";
import { WEBHOOK_KIND, webhookContentOf, webhookKey } from "./webhook_records.ts";

/** The parts that all events of webhooks share. */
const OF_WEBHOOK = {
  release: "7.0",
  id: ({ webhookId }) => webhookId,
} satisfies Partial<EventDefinition<Pick<Webhook, "webhookId">>>;

/** An event whose data is the webhook after it. */
const CHANGE = {
  ...OF_WEBHOOK,
  project({ event: { data, position } }) {
    return [{ key: webhookKey(data.webhookId), content: webhookContentOf(position, data) }];
  },
} satisfies Partial<EventDefinition<Webhook>>;

const WEBHOOK_EVENTS: EventDefinitions<WebhookEventBody> = {
  WebhookAdded: {
    ...OF_WEBHOOK,
    data: WEBHOOK_EVENT_DATA.WebhookAdded,
    isFirst: true,
    project({ event }) {
      const { data: { webhookId }, position } = event;
      const content = webhookContentOf(position, addedWebhook(event));
      return [{ key: webhookKey(webhookId), content }];
    },
    tally: () => [[PRESENT, 1]],
  },
  WebhookChanged: {
    ...OF_WEBHOOK,
    data: WEBHOOK_EVENT_DATA.WebhookChanged,
    project({ event: { data: { previous: _, ...webhook }, position } }) {
      const { webhookId } = webhook;
      return [{ key: webhookKey(webhookId), content: webhookContentOf(position, webhook) }];
    },
  },
  WebhookRemoved: {
    ...OF_WEBHOOK,
    data: WEBHOOK_EVENT_DATA.WebhookRemoved,
    project: ({ event: { data: { webhookId } } }) => [{ key: webhookKey(webhookId) }],
    tally: () => [[PRESENT, -1]],
  },
  WebhookSecretRotated: { ...CHANGE, data: WEBHOOK_EVENT_DATA.WebhookSecretRotated },
  WebhookDisabled: { ...CHANGE, data: WEBHOOK_EVENT_DATA.WebhookDisabled },
  WebhookResumed: { ...CHANGE, data: WEBHOOK_EVENT_DATA.WebhookResumed },
};

export const WEBHOOKS: Collection<WebhookEventBody> = {
  name: WEBHOOKS_COLLECTION,
  isId: (text) => Ulid.safeParse(text).success,
  exampleId: "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  events: WEBHOOK_EVENTS,
  personal: ["description"],
  kinds: {
    [WEBHOOK_KIND]: {
      key: ["text"],
      owner: ([, id]) => `webhook ${id}`,
      describe: ([, id]) => `Webhook ${id}`,
    },
  },
  newHistory: () => new WebhookHistory(),
};
