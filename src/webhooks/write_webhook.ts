/** The commands of clients that add, change or remove a webhook, or rotate its secret. */

import { type CommandSnapshot, type Runtime, ServiceError } from "eventstore-less";
import {
  formerTermsOf,
  type NewWebhook,
  patchTerms,
  type Webhook,
  type WebhookPatch,
} from "../../events/webhook.ts";
import {
  type DecidedBody,
  type Expectations,
  type WriteDeps,
  type WriteRequest,
  writeWithKey,
} from "../keys/write_with_key.ts";
import { rotatedSecrets } from "./rotated_secrets.ts";
import type { WebhookKeys } from "./secrets.ts";
import { encodeShownWebhook, shownWebhook } from "./shown_webhook.ts";
import { WEBHOOKS_COLLECTION } from "./webhook_counts.ts";
import { isWebhookEvent, webhookAfter, type WebhookEvent } from "./webhook_event.ts";
import type { WebhookReader, WebhookRecord, Webhooks } from "./webhook_reader.ts";

/** Maximum number of webhooks. */
export const WEBHOOKS_LIMIT = 100;

export interface WriteWebhookDeps extends WriteDeps {
  runtime: Pick<Runtime, "newId" | "now">;
  webhooks: WebhookReader;
  /** `undefined` if webhooks are off. */
  webhookKeys: WebhookKeys | undefined;
}

export interface AddWebhookRequest extends WriteRequest {
  terms: NewWebhook;
}

/** A request about one webhook. */
export interface WebhookRequest extends WriteRequest, Expectations {
  webhookId: string;
}

export interface UpdateWebhookRequest extends WebhookRequest {
  patch: WebhookPatch;
}

export interface WrittenWebhook {
  id: string;
  /** The JSON text of the webhook after the request, or of the removed one. */
  text: string;
  /** Whether an earlier request with the same Idempotency-Key wrote it. */
  isDuplicate: boolean;
}

/** A webhook that has got a secret. */
export interface WebhookWithSecret extends WrittenWebhook {
  /** Shown in the response, and nowhere else. */
  secret: string;
}

/** The webhooks before a request, and the time of its event. */
interface WebhooksBefore extends Pick<Webhooks, "byId">, Pick<CommandSnapshot, "time"> {}

/** The effect of a request on a webhook. Its functions depend only on their arguments. */
export interface WebhookRule {
  /** The event of the request; `undefined` if nothing changes. Throws the refusal. */
  decide(before: WebhooksBefore): DecidedBody | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: WebhookEvent): boolean;
}

/** The keys for secrets. Throws `webhooks_off` without them. */
export function expectKeys({ webhookKeys }: Pick<WriteWebhookDeps, "webhookKeys">): WebhookKeys {
  if (webhookKeys !== undefined) return webhookKeys;
  const message = "Webhooks are off, because the operator has given the service no WEBHOOK_KEY";
  throw new ServiceError("webhooks_off", message);
}

/** Rejects as {@linkcode writeWithKey}, or with `webhooks_off` or `too_many_webhooks`. */
export async function addWebhook(
  deps: WriteWebhookDeps,
  { terms, ...request }: AddWebhookRequest,
): Promise<WebhookWithSecret> {
  const keys = expectKeys(deps);
  const eventId = deps.runtime.newId();
  const written = await writeWebhook(deps, request, additionRule(eventId, terms, keys.latest));
  return withSecret(written, keys);
}

export function additionRule(webhookId: string, terms: NewWebhook, secretKey: string): WebhookRule {
  return {
    decide({ byId }) {
      expectRoom(byId);
      return { id: webhookId, type: "WebhookAdded", data: { webhookId, ...terms, secretKey } };
    },
    isOutcome: ({ type, data }) =>
      type === "WebhookAdded" && Object.keys(formerTermsOf(data, terms)).length === 0,
  };
}

/** Appends nothing if nothing changes. Rejects as addWebhook(), or with `webhook_not_found` or `precondition_failed`. */
export async function updateWebhook(
  deps: WriteWebhookDeps,
  request: UpdateWebhookRequest,
): Promise<WrittenWebhook> {
  expectKeys(deps);
  const { event, isDuplicate, before } = await writeWebhook(deps, request, changeRule(request));
  if (event !== undefined) return writtenOf(webhookAfter(event)!, isDuplicate);
  return writtenOf(before!.byId.get(request.webhookId)!, isDuplicate);
}

export function changeRule(
  { webhookId, patch, ...expectations }: Omit<UpdateWebhookRequest, "token">,
): WebhookRule {
  return {
    decide({ byId }) {
      const before = expectWebhook(byId, webhookId, expectations);
      const terms = patchTerms(before, patch);
      const previous = formerTermsOf(before, terms);
      if (Object.keys(previous).length === 0) return undefined;
      const data = { ...stateOf(before), ...terms, previous };
      return { type: "WebhookChanged", data, predecessor: before.position };
    },
    isOutcome({ type, data }) {
      if (type !== "WebhookChanged" || data.webhookId !== webhookId) return false;
      const isAsPatched = Object.keys(formerTermsOf(data, patchTerms(data, patch))).length === 0;
      return isAsPatched && Object.keys(data.previous).every((name) => Object.hasOwn(patch, name));
    },
  };
}

/** Rejects as updateWebhook(). */
export async function removeWebhook(
  deps: WriteWebhookDeps,
  request: WebhookRequest,
): Promise<{ isDuplicate: boolean }> {
  expectKeys(deps);
  const { isDuplicate } = await writeWebhook(deps, request, removalRule(request));
  return { isDuplicate };
}

export function removalRule(
  { webhookId, ...expectations }: Omit<WebhookRequest, "token">,
): WebhookRule {
  return {
    decide({ byId }) {
      const before = expectWebhook(byId, webhookId, expectations);
      return { type: "WebhookRemoved", data: stateOf(before), predecessor: before.position };
    },
    isOutcome: ({ type, data }) => type === "WebhookRemoved" && data.webhookId === webhookId,
  };
}

/** Rejects as updateWebhook(). */
export async function rotateWebhookSecret(
  deps: WriteWebhookDeps,
  request: WebhookRequest,
): Promise<WebhookWithSecret> {
  const keys = expectKeys(deps);
  const eventId = deps.runtime.newId();
  const rule = rotationRule(request, eventId, keys.latest);
  return withSecret(await writeWebhook(deps, request, rule), keys);
}

export function rotationRule(
  { webhookId, ...expectations }: Omit<WebhookRequest, "token">,
  eventId: string,
  secretKey: string,
): WebhookRule {
  return {
    decide({ byId, time }) {
      const before = expectWebhook(byId, webhookId, expectations);
      const secrets = rotatedSecrets(before.secrets, { eventId, secretKey }, time);
      const data = { ...stateOf(before), secrets };
      return { id: eventId, type: "WebhookSecretRotated", data, predecessor: before.position };
    },
    isOutcome: ({ type, data }) => type === "WebhookSecretRotated" && data.webhookId === webhookId,
  };
}

/** The outcome of a request, as of `Written`. */
export interface WebhookOutcome {
  event?: WebhookEvent;
  isDuplicate: boolean;
  before?: WebhooksBefore;
}

/** Carries out a rule for an API key, alone in its commit. Rejects as {@linkcode writeWithKey} and as the rule throws. */
export async function writeWebhook(
  deps: Omit<WriteWebhookDeps, "webhookKeys">,
  { token, idempotencyKey }: WriteRequest,
  { decide, isOutcome }: WebhookRule,
): Promise<WebhookOutcome> {
  const written = await writeWithKey<WebhooksBefore>(deps, { token, idempotencyKey }, {
    // Each command of a webhook is decided on all of them: on how many there are.
    group: WEBHOOKS_COLLECTION,
    read: async ({ head, time }) => ({ byId: (await deps.webhooks.proven(head)).byId, time }),
    decide: (_head, before) => decide(before),
    isOutcome: (event) => isWebhookEvent(event) && isOutcome(event),
  });
  return { ...written, event: written.event as WebhookEvent | undefined };
}

/** The webhook with this id. Throws `webhook_not_found`, or `precondition_failed` unless it is what the client expects. */
export function expectWebhook(
  byId: Webhooks["byId"],
  webhookId: string,
  { isExpected, isExcluded }: Expectations = {},
): WebhookRecord {
  const webhook = byId.get(webhookId);
  if (webhook === undefined) throw webhookNotFoundError();
  if (isExpected !== undefined && !isExpected(webhook.text)) {
    const message = "The webhook has changed since you read it: read it again";
    throw new ServiceError("precondition_failed", message);
  }
  if (isExcluded?.(webhook.text)) {
    const message = "The webhook is in a state that If-None-Match excludes";
    throw new ServiceError("precondition_failed", message);
  }
  return webhook;
}

export function webhookNotFoundError(): ServiceError {
  return new ServiceError("webhook_not_found", "A webhook with this identifier does not exist");
}

function expectRoom({ size }: Webhooks["byId"]): void {
  if (size < WEBHOOKS_LIMIT) return;
  const message = `There are at most ${WEBHOOKS_LIMIT} webhooks: remove one of them first`;
  throw new ServiceError("too_many_webhooks", message);
}

/** The state of a webhook, without what only its record has. */
export function stateOf(record: WebhookRecord): Webhook {
  const { webhookId, createdAt, addedAt, secrets, disabledReason } = record;
  return { webhookId, ...patchTerms(record, {}), createdAt, addedAt, secrets, disabledReason };
}

export function writtenOf(webhook: Webhook, isDuplicate: boolean): WrittenWebhook {
  const text = encodeShownWebhook(shownWebhook(webhook));
  return { id: webhook.webhookId, text, isDuplicate };
}

/** The outcome with its secret, also of a repeated request. Throws `webhooks_off` if the service no longer has its key. */
function withSecret({ event, isDuplicate }: WebhookOutcome, keys: WebhookKeys): WebhookWithSecret {
  const webhook = webhookAfter(event!)!;
  const secret = keys.textOf(webhook.secrets[0]);
  if (secret !== undefined) return { ...writtenOf(webhook, isDuplicate), secret };
  const message = "The service has lost the key of this secret: rotate the secret";
  throw new ServiceError("webhooks_off", message);
}
