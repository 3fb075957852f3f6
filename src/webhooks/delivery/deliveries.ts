import type { ConsumerHandle, EventStore, Head, Runtime } from "eventstore-less";
import type { HeadReader } from "eventstore-less/parts";
import type { EventBody } from "../../../events/all_events.ts";
import type { Logger } from "../../runtime/logger.ts";
import { webhookPositionOf } from "../webhook_counts.ts";
import type { WebhookReader, WebhookRecord, Webhooks } from "../webhook_reader.ts";
import type { AttemptLog } from "./attempt_log.ts";
import { consumerOfWebhook } from "./consumer_of_webhook.ts";
import type { Delivery } from "./delivery.ts";
import { pauseMsAfter } from "./pause_after.ts";

/** Time between two looks for changes that another instance has made, in milliseconds. */
const LOOK_MS = 1_000;

export interface DeliveriesDeps {
  attempts: AttemptLog;
  delivery: Delivery;
  eventStore: Pick<EventStore<EventBody>, "consume" | "forgetConsumer" | "stopConsumers">;
  heads: HeadReader;
  report: Logger;
  runtime: Runtime;
  webhooks: WebhookReader;
  /** The names of all consumers that the store knows. */
  knownConsumers(): Promise<string[]>;
}

/**
 * A consumer for each webhook that is enabled, on each instance; the engine lets one instance work. It follows what is added,
 * changed and removed on any instance.
 */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #consumers = new Map<string, ConsumerHandle>();
  /** The webhooks whose consumers are about to end. */
  readonly #ending = new Set<string>();
  /** The webhooks of which a line of the log has said that their key is missing. */
  readonly #keyless = new Set<string>();
  /** The webhooks as of the last look. */
  #seen: Webhooks | undefined;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #wake = () => {};

  /** Does nothing before {@linkcode start}. */
  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends all deliveries, each within three seconds, and stores their places. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#running;
    await this.#deps.eventStore.stopConsumers();
    await this.#deps.attempts.flush();
  }

  /** Looks for changes at once if a commit of this instance has made some. */
  onCommitted(): void {
    const head = this.#deps.heads.latest?.head;
    if (head !== undefined && this.#isNews(head)) this.#wake();
  }

  #isNews(head: Head): boolean {
    if (this.#seen === undefined) return true;
    return webhookPositionOf(head) !== webhookPositionOf(this.#seen.head);
  }

  async #run(): Promise<void> {
    let hasForgotten = false;
    while (!this.#isStopped) {
      try {
        hasForgotten ||= await this.#forgetRemoved();
        await this.#look();
      } catch {
        // The store says itself that it is away.
      }
      if (!this.#isStopped) await this.#wait();
    }
  }

  #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = this.#deps.runtime.setTimer(LOOK_MS, resolve);
    return promise.finally(cancel);
  }

  /** Removes the places of webhooks that were removed while no instance followed. */
  async #forgetRemoved(): Promise<true> {
    const { eventStore, heads, knownConsumers, webhooks } = this.#deps;
    const names = await knownConsumers();
    // They are read later, so each webhook that has a place is among them unless it was removed.
    const { byId } = await webhooks.asOf((await heads.fresh()).head);
    const present = new Set([...byId.keys()].map(consumerOfWebhook));
    const isOfRemoved = (name: string) =>
      name.startsWith(consumerOfWebhook("")) && !present.has(name);
    for (const name of names.filter(isOfRemoved)) {
      await eventStore.forgetConsumer(name);
      await this.#deps.attempts.remove(name.slice(consumerOfWebhook("").length));
    }
    return true;
  }

  /** Begins and ends consumers, so that they are those of the webhooks as of a fresh head. */
  async #look(): Promise<void> {
    const { heads, webhooks } = this.#deps;
    const { head } = await heads.fresh();
    const now = await webhooks.asOf(head);
    const before = this.#seen?.byId.keys() ?? [];
    this.#seen = now;
    for (const [id, consumer] of this.#consumers) {
      const webhook = now.byId.get(id);
      if (webhook !== undefined && !this.#isCalled(webhook)) {
        void this.#end(id, () => consumer.stop());
      }
    }
    for (const id of before) {
      if (!now.byId.has(id)) void this.#end(id, () => this.#forget(id));
    }
    for (const webhook of now.byId.values()) {
      const { id } = webhook;
      this.#reportKeyless(webhook);
      const isKnown = this.#consumers.has(id) || this.#ending.has(id);
      if (!isKnown && !this.#isStopped && this.#isCalled(webhook)) this.#begin(webhook);
    }
  }

  /** Says once that an endpoint is not called, which nobody would notice otherwise. */
  #reportKeyless(webhook: WebhookRecord): void {
    const { id, disabledReason } = webhook;
    if (disabledReason !== undefined || this.#deps.delivery.hasKeyOf(webhook)) return;
    if (this.#keyless.has(id)) return;
    this.#keyless.add(id);
    this.#deps.report("warn", "webhook_key_missing", { webhook: id });
  }

  #isCalled(webhook: WebhookRecord | undefined): webhook is WebhookRecord {
    return webhook !== undefined && webhook.disabledReason === undefined &&
      this.#deps.delivery.hasKeyOf(webhook);
  }

  #begin({ id, addedAt }: WebhookRecord): void {
    const { delivery, eventStore, runtime } = this.#deps;
    const consumer = eventStore.consume(
      consumerOfWebhook(id),
      (event, context) => delivery.deliver(id, event, context),
      { after: addedAt, pauseMs: (failures, error) => pauseMsAfter(runtime, failures, error) },
    );
    this.#consumers.set(id, consumer);
  }

  /** Removes what a webhook that was removed has left, also one that was disabled. */
  async #forget(id: string): Promise<void> {
    const { attempts, eventStore } = this.#deps;
    const name = consumerOfWebhook(id);
    await (this.#consumers.get(id)?.forget() ?? eventStore.forgetConsumer(name));
    await attempts.remove(id);
  }

  /** Ends a consumer, which others need not wait for. If its place cannot be removed, the next start removes it. */
  async #end(id: string, end: () => Promise<void>): Promise<void> {
    this.#ending.add(id);
    const ending = end();
    this.#consumers.delete(id);
    try {
      await ending;
    } catch {
      // The store says itself that it is away.
    } finally {
      this.#ending.delete(id);
      this.#wake();
    }
  }
}
