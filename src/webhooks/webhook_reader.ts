import { damagedError, decodeRecord } from "eventstore-less/parts";
import type { StoreEntry } from "eventstore-less/store";
import { encodeWebhook, type Webhook } from "../../events/webhook.ts";
import type {
  CollectionReader,
  ReadCollection,
  SubjectRecord,
  SubjectRecords,
} from "../api/collection_reader.ts";
import { APPLICATION } from "../application.ts";
import { encodeShownWebhook, shownWebhook } from "./shown_webhook.ts";
import { webhookCount, webhookPositionOf } from "./webhook_counts.ts";
import { isWebhookEvent, webhookAfter } from "./webhook_event.ts";
import { WEBHOOK_KIND, webhookKey } from "./webhook_records.ts";

/** A webhook as the store has it. `text` is what clients read, without its secrets. */
export interface WebhookRecord extends Webhook, SubjectRecord {
  /** The same as `webhookId`. */
  id: string;
}

/** All webhooks that are not removed. */
export type Webhooks = SubjectRecords<WebhookRecord>;

/** Reads all webhooks together. */
export type WebhookReader = CollectionReader<WebhookRecord>;

export const READ_WEBHOOKS: ReadCollection<WebhookRecord> = {
  name: "webhooks",
  kind: WEBHOOK_KIND,
  countAt: webhookCount,
  positionAt: webhookPositionOf,
  decode: webhookOf,
  follows(webhook, event) {
    const after = isWebhookEvent(event) ? webhookAfter(event) : undefined;
    return after !== undefined && encodeWebhook(after) === encodeWebhook(webhook);
  },
  keyOf: ({ id }) => webhookKey(id),
};

/** Throws `projection_damaged`. */
function webhookOf(entry: StoreEntry): WebhookRecord {
  const { position, ...webhook } = decodeRecord(APPLICATION, entry) as Webhook & {
    position: number;
  };
  const id = webhook.webhookId;
  if (entry.key.at(-1) !== id) throw damagedError(APPLICATION, entry.key, "has another webhook");
  const text = encodeShownWebhook(shownWebhook(webhook));
  return { ...webhook, id, text, position, isProven: false };
}
