import { type ConsumerContext, type Runtime, ServiceError } from "eventstore-less";
import {
  type BackgroundWork,
  encodePublicEvent,
  feedPositionOf,
  type HeadReader,
  readProof,
  sha256Hex,
} from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { RecordedEvent, RecordedLine } from "../../../events/all_events.ts";
import { DELIVERED_TYPES, type DisabledReason } from "../../../events/webhook.ts";
import { APPLICATION } from "../../application.ts";
import type { Instrumentation } from "../../runtime/instrumentation.ts";
import type { Logger } from "../../runtime/logger.ts";
import { secretsOf, type WebhookKeys } from "../secrets.ts";
import { type Attempt, isConfirmed } from "../sending/attempt.ts";
import type { WebhookSender } from "../sending/webhook_sender.ts";
import { signatureHeaders } from "../sending/webhook_signature.ts";
import type { WebhookReader, WebhookRecord } from "../webhook_reader.ts";
import { webhookSubject } from "../webhook_records.ts";
import type { AttemptLog } from "./attempt_log.ts";
import { DeliveryPace } from "./delivery_pace.ts";
import { DeliveryFailedError } from "./delivery_failed_error.ts";
import { disableWebhook, type DisableWebhookDeps } from "./disable_webhook.ts";

/** How long a delivery may fail before its webhook is disabled, in milliseconds. */
const FAILING_LIMIT_MS = 5 * 24 * 60 * 60 * 1_000;

/** Number of failures before a webhook is disabled for them: a clock that jumps can make some seconds look like days. */
const FAILURES_LIMIT = 10;

/** Maximum number of calls outside of the deliveries at once: each may take 15 s. */
const CALLS_LIMIT = 10;

const GONE = 410;

/** An event as the feed shows it, or a test, for a receiver. */
export interface Message {
  /** The same in each attempt. */
  id: string;
  body: string;
}

export interface DeliveryDeps extends DisableWebhookDeps {
  attempts: AttemptLog;
  background: BackgroundWork;
  heads: HeadReader;
  instrumentation: Pick<Instrumentation, "count">;
  keys: WebhookKeys;
  report: Logger;
  runtime: Runtime;
  sender: Pick<WebhookSender, "send">;
  store: Store;
  webhooks: WebhookReader;
}

/** One attempt to deliver an event to an endpoint, and what follows from its outcome. */
export class Delivery {
  readonly #deps: DeliveryDeps;
  /** The calls outside of the deliveries. */
  readonly #calls = new Set<AbortController>();

  readonly #pace: DeliveryPace;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#pace = new DeliveryPace(deps.background, deps.runtime);
  }

  /** Whether this instance has the key of the secret. Otherwise, it cannot sign for the endpoint. */
  hasKeyOf(webhook: WebhookRecord): boolean {
    return this.#secretsOf(webhook).length > 0;
  }

  /** Rejects if the receiver does not confirm the event, or if the webhook must not be called any more. */
  async deliver(
    webhookId: string,
    event: RecordedEvent,
    { line, attempts, failingSince, signal }: ConsumerContext,
  ): Promise<void> {
    await this.#deps.background.turn("events");
    // The consumer has read the event up to this head, so its types are those at the event, or later ones.
    const { head } = this.#deps.heads.latest!;
    if (!await this.#isWanted(webhookId, event, head)) return;
    await this.#pace.turn();
    // A webhook that was removed before is not called.
    const { head: fresh } = await this.#deps.heads.fresh();
    const webhook = (await this.#deps.webhooks.asOf(fresh)).byId.get(webhookId);
    if (webhook === undefined || webhook.disabledReason !== undefined) {
      throw new Error("The webhook is not enabled");
    }
    if (!this.hasKeyOf(webhook)) throw new Error("The key of its secret is missing");
    const attempt = await this.#send(webhook, messageOf({ event, line }), signal);
    if (isConfirmed(attempt)) return;
    const isGone = attempt.status === GONE;
    const isFailing = attempts >= FAILURES_LIMIT && await this.#failsFor(webhook, failingSince);
    if (isGone || isFailing) await this.#disable(webhook, isGone ? "gone" : "failing");
    throw new DeliveryFailedError(attempt);
  }

  /** Sends a message once, outside of the deliveries, and stores the attempt. Rejects with `overloaded`, or with `shutting_down` if the calls end. */
  async sendNow(webhook: WebhookRecord, message: Message): Promise<Attempt> {
    if (this.#calls.size >= CALLS_LIMIT) {
      throw new ServiceError("overloaded", "Too many calls of endpoints are under way");
    }
    const call = new AbortController();
    this.#calls.add(call);
    try {
      const attempt = await this.#send(webhook, message, call.signal);
      await this.#deps.attempts.storeNow(webhook.id);
      return attempt;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Ends the calls of sendNow(). */
  endCalls(): void {
    const reason = new ServiceError("shutting_down", "The service is shutting down");
    for (const call of this.#calls) call.abort(reason);
  }

  /** Sends a message once, and notes the attempt. Rejects only if the signal aborts. */
  async #send(webhook: WebhookRecord, message: Message, signal: AbortSignal): Promise<Attempt> {
    const { attempts, instrumentation, runtime, sender } = this.#deps;
    const { id, body } = message;
    const signed = { id, body, time: runtime.now() };
    const headers = {
      "content-type": "application/cloudevents+json",
      "user-agent": APPLICATION.dashedName,
      ...signatureHeaders(signed, this.#secretsOf(webhook)),
    };
    const attempt = await sender.send({ url: webhook.url, headers, body, signal });
    attempts.note(webhook.id, { eventId: id, ...attempt });
    instrumentation.count("webhooks.attempts", { outcome: outcomeOf(attempt) });
    return attempt;
  }

  async #isWanted(
    webhookId: string,
    event: RecordedEvent,
    head: Parameters<WebhookReader["asOf"]>[0],
  ): Promise<boolean> {
    if (!isDelivered(event)) return false;
    const { byId } = await this.#deps.webhooks.asOf(head);
    const { types } = byId.get(webhookId) ?? {};
    return types === undefined || (types as readonly string[]).includes(event.type);
  }

  /** Whether its receiver has failed for five days, and nobody has changed or resumed the webhook since. */
  async #failsFor({ id, position }: WebhookRecord, failingSince = ""): Promise<boolean> {
    const { attempts, runtime, store } = this.#deps;
    // The failures of the consumer can be those of the service, too.
    const latest = await attempts.read(id);
    if (latest.length < FAILURES_LIMIT || latest.some(isConfirmed)) return false;
    const { event: last } = await readProof(APPLICATION, store, position);
    const since = failingSince > last.time ? failingSince : last.time;
    return runtime.now() - Date.parse(since) >= FAILING_LIMIT_MS;
  }

  async #disable(webhook: WebhookRecord, reason: DisabledReason): Promise<void> {
    const isDisabled = await disableWebhook(this.#deps, webhook, reason);
    if (!isDisabled) return;
    this.#deps.report("warn", "webhook_disabled", { webhook: webhook.id, reason });
  }

  #secretsOf(webhook: WebhookRecord): string[] {
    return secretsOf(webhook, this.#deps.keys, this.#deps.runtime.now());
  }
}

/** Whether endpoints can get an event: it is one of the feed. */
export function isDelivered({ type }: RecordedEvent): boolean {
  return (DELIVERED_TYPES as readonly string[]).includes(type);
}

/** An event as the feed shows it. */
export function messageOf({ event, line }: RecordedLine): Message {
  const { id } = feedPositionOf({ position: event.position, lastHash: sha256Hex(line) });
  return { id, body: encodePublicEvent(APPLICATION, { event, line }, id) };
}

/** A test, which is no event of the log. */
export function testMessage({ id: webhookId }: WebhookRecord, runtime: Runtime): Message {
  const id = `test-${runtime.newId()}`;
  const body = JSON.stringify({
    specversion: "1.0",
    id,
    source: APPLICATION.eventSource,
    type: "WebhookTest",
    time: new Date(runtime.now()).toISOString(),
    subject: webhookSubject(webhookId),
    datacontenttype: "application/json",
    data: { webhookId },
  });
  return { id, body };
}

function outcomeOf(attempt: Attempt): string {
  if (isConfirmed(attempt)) return "confirmed";
  return attempt.error === undefined ? "refused" : "failed";
}
