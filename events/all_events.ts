/** All events of the application. */

import type { Recorded, RecordedLine as RecordedLineOf } from "eventstore-less";
import type { DecidedEvent as DecidedEventOf } from "eventstore-less/parts";
import type { ApiKeyEventBody } from "./api_key.ts";
import type { CategoryEventBody } from "./category.ts";
import type { PetEventBody } from "./pet_event.ts";
import type { WebhookEventBody } from "./webhook.ts";

export type EventBody = PetEventBody | ApiKeyEventBody | CategoryEventBody | WebhookEventBody;
export type EventType = EventBody["type"];
export type RecordedEvent = Recorded<EventBody>;
export type RecordedLine = RecordedLineOf<EventBody>;
export type DecidedEvent = DecidedEventOf<EventBody>;

/** The reasons of the application to refuse a command, besides those of the engine. */
export type RefusalCode =
  | "category_name_taken"
  | "category_not_found"
  | "idempotency_key_reused"
  | "invalid_credentials"
  | "pet_erased"
  | "pet_not_found"
  | "pet_not_removed"
  | "precondition_failed"
  | "read_only_key"
  | "too_many_categories"
  | "too_many_webhooks"
  | "webhook_not_found"
  | "webhooks_off";
