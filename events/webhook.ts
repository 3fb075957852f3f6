/** A webhook, which is an endpoint of a client that the service calls, and its events. */

import { Instant, objectEncoder, safeInteger, Ulid } from "eventstore-less/encoding";
import { z } from "zod";
import { CATEGORY_EVENT_TYPES } from "./category.ts";
import { text } from "./pet.ts";
import { PET_EVENT_TYPES } from "./pet_event.ts";

/** Longest address of an endpoint, in Unicode code points. */
export const WEBHOOK_URL_MAX_LENGTH = 2_000;

/** Longest description of a webhook, in Unicode code points. */
export const WEBHOOK_DESCRIPTION_MAX_LENGTH = 200;

/** Maximum number of secrets that sign at the same time: a further rotation ends the oldest one. */
export const WEBHOOK_SECRETS_LIMIT = 10;

/** The types of events that a webhook can get: those of the feed. */
export const DELIVERED_TYPES = [...PET_EVENT_TYPES, ...CATEGORY_EVENT_TYPES] as const;

/** The terms of a webhook as clients send them. */
export const NewWebhook = z.strictObject({
  url: text(WEBHOOK_URL_MAX_LENGTH, "The address of the endpoint")
    .refine((url) => URL.canParse(url), "must be an absolute URL")
    .meta({ format: "uri", examples: ["https://shop.example/hooks"] }),
  types: z.array(
    z.enum(DELIVERED_TYPES, { error: `must name only ${DELIVERED_TYPES.join(", ")}` }),
    {
      error: "must be a list of types",
    },
  )
    .min(1, "must not be empty: leave it out for all types")
    .refine((types) => new Set(types).size === types.length, "must name each type once")
    .meta({
      description: "The types of the events that the endpoint gets; absent: all",
      maxItems: DELIVERED_TYPES.length,
      uniqueItems: true,
    })
    .optional(),
  description: text(WEBHOOK_DESCRIPTION_MAX_LENGTH, "A description for people").optional(),
});
export type NewWebhook = z.infer<typeof NewWebhook>;

/** A secret of a webhook. `eventId` and the key with the fingerprint `secretKey` make its text, which is stored nowhere. */
const WebhookSecret = z.strictObject({
  /** The event that made the secret. */
  eventId: Ulid,
  secretKey: z.string().regex(/^[0-9a-f]{16}$/, "must be 16 lower-case hex digits")
    .meta({ examples: ["0123456789abcdef"] }),
  /** When the secret ends, because another one follows it; absent for the last one. */
  until: Instant.optional(),
});
export type WebhookSecret = z.infer<typeof WebhookSecret>;

export const DisabledReason = z.enum(["gone", "failing"]);
export type DisabledReason = z.infer<typeof DisabledReason>;

/** The whole state of a webhook. */
export const Webhook = z.strictObject({
  webhookId: Ulid,
  ...NewWebhook.shape,
  /** Time and position of its addition. */
  createdAt: Instant,
  addedAt: safeInteger(1),
  /** The latest one first. */
  secrets: z.array(WebhookSecret).min(1).max(WEBHOOK_SECRETS_LIMIT),
  /** Absent while the webhook is enabled. */
  disabledReason: DisabledReason.optional(),
});
export type Webhook = z.infer<typeof Webhook>;

export const WebhookAddedData = z.strictObject({
  webhookId: Ulid,
  ...NewWebhook.shape,
  secretKey: WebhookSecret.shape.secretKey,
});
export type WebhookAddedData = z.infer<typeof WebhookAddedData>;

/** A JSON Merge Patch (RFC 7396) of the terms of a webhook. `null` removes one that it need not have. */
export const WebhookPatch = z.strictObject({
  url: NewWebhook.shape.url.optional(),
  types: NewWebhook.shape.types.unwrap().nullable().optional(),
  description: NewWebhook.shape.description.unwrap().nullable().optional(),
});
export type WebhookPatch = z.infer<typeof WebhookPatch>;

/** `previous` has the former values of the terms that have changed; `null` if the webhook did not have one. */
export const WebhookChangedData = Webhook.extend({ previous: WebhookPatch });
export type WebhookChangedData = z.infer<typeof WebhookChangedData>;

/** The data of each type. After the addition, it has the whole webhook, because its record depends on its last event alone. */
export const WEBHOOK_EVENT_DATA = {
  WebhookAdded: WebhookAddedData,
  WebhookChanged: WebhookChangedData,
  /** The webhook as it was before. */
  WebhookRemoved: Webhook,
  WebhookSecretRotated: Webhook,
  WebhookDisabled: Webhook,
  WebhookResumed: Webhook,
};

type DataOfTypes = typeof WEBHOOK_EVENT_DATA;

export type WebhookEventBody = {
  [Type in keyof DataOfTypes]: { type: Type; data: z.infer<DataOfTypes[Type]> };
}[keyof DataOfTypes];

export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_EVENT_DATA) as WebhookEventBody["type"][];

/** The only JSON text of the state of a webhook, in its record. It has no secret. */
export const encodeWebhook: (webhook: Webhook) => string = objectEncoder(Webhook);

const TERMS = Object.keys(NewWebhook.shape) as (keyof NewWebhook)[];

/** The terms of a webhook after a patch. */
export function patchTerms(before: NewWebhook, patch: WebhookPatch): NewWebhook {
  const { url, types, description } = { ...before, ...patch };
  return { url, types: types ?? undefined, description: description ?? undefined };
}

/** The former values of the terms that differ. */
export function formerTermsOf(before: NewWebhook, after: NewWebhook): WebhookPatch {
  const changed = TERMS.filter((name) => textOf(before[name]) !== textOf(after[name]));
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}

function textOf(term: NewWebhook[keyof NewWebhook]): string | undefined {
  return JSON.stringify(term);
}
