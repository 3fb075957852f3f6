/** Instances of the service on one store, whose webhooks lead to receivers in memory. Time passes only on request. */

import type { EventBody } from "../../../events/all_events.ts";
import type { NewWebhook, Webhook } from "../../../events/webhook.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import type { Logger } from "../../../src/runtime/logger.ts";
import { createService, type Service } from "../../../src/service.ts";
import { type Attempt, isConfirmed } from "../../../src/webhooks/sending/attempt.ts";
import type { WebhookRequest } from "../../../src/webhooks/sending/webhook_sender.ts";
import { WebhookKeys } from "../../../src/webhooks/secrets.ts";
import { WEBHOOKS_COLLECTION } from "../../../src/webhooks/webhook_counts.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../../src/eventstore_less/store/store.ts";
import type { NewEvent } from "eventstore-less";
import { FakeRuntime } from "eventstore-less/testing";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { type FaultyStore, faultyStore } from "../../support/faulty_store.ts";
import { sharedStore } from "../../support/shared_store.ts";

export const KEYS = WebhookKeys.of([new Uint8Array(32).fill(7)]);

/** How a receiver answers: a status, or more of an attempt. A promise that stays pending is a receiver that hangs. */
type Answer = number | Partial<Attempt> | Promise<number>;

/** A request that a receiver got, and how it answered. */
export interface Received {
  url: string;
  /** The position of the event. */
  position: number;
  headers: Record<string, string>;
  body: string;
  at: number;
  isConfirmed: boolean;
}

/** An instance, whose store can be cut off. */
export interface WebhookInstance extends Service {
  faults: FaultyStore;
  reports: [event: string, details: unknown][];
}

export class WebhookWorld implements AsyncDisposable {
  readonly runtime = new FakeRuntime();
  readonly received: Received[] = [];
  /** How a receiver answers, by its URL; by default 200. */
  readonly answers = new Map<string, (request: WebhookRequest) => Answer>();
  readonly #instances: WebhookInstance[] = [];
  keyId = "";

  private constructor(readonly memory: Store) {}

  /** A world with an instance that has a key of the interface and calls no endpoint. */
  static async open(): Promise<WebhookWorld> {
    const world = new WebhookWorld(await SqliteStore.open(":memory:"));
    const { id } = await world.runtime.settle(issueApiKey(world.writer, { label: "test" }));
    world.keyId = id;
    return world;
  }

  #writer: Service | undefined;

  /** An instance that only writes. */
  get writer(): Service {
    this.#writer ??= this.#create({ calls: false });
    return this.#writer;
  }

  /** Starts an instance that calls endpoints. */
  start(keys = KEYS): WebhookInstance {
    const instance = this.#create({ calls: true, keys });
    instance.deliveries!.start();
    return instance;
  }

  #create({ calls, keys = KEYS }: { calls: boolean; keys?: WebhookKeys }): WebhookInstance {
    const { runtime } = this;
    const faults = faultyStore(runtime.awaited(sharedStore(this.memory)));
    const reports: WebhookInstance["reports"] = [];
    const report: Logger = (_level, event, details) => reports.push([event, details]);
    const webhookSender = { send: (request: WebhookRequest) => this.#send(request) };
    const webhookKeys = calls ? keys : undefined;
    const service = createService({ store: faults, runtime, report, webhookKeys, webhookSender });
    const instance = { ...service, faults, reports };
    this.#instances.push(instance);
    return instance;
  }

  async #send(request: WebhookRequest): Promise<Attempt> {
    const { runtime } = this;
    const { url, headers, body, signal } = request;
    signal.throwIfAborted();
    const time = new Date(runtime.now()).toISOString();
    const at = runtime.monotonicNow();
    const position = parseInt(headers["webhook-id"]);
    const received = { url, position, headers, body, at, isConfirmed: false };
    this.received.push(received);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const answer = await Promise.race([this.answers.get(url)?.(request) ?? 200, aborted]);
    const outcome = typeof answer === "number" ? { status: answer } : answer;
    received.isConfirmed = isConfirmed(outcome);
    return { time, durationMs: Math.round(runtime.monotonicNow() - at), ...outcome };
  }

  /** From now on, the store does not answer this instance, as if it had been killed. */
  kill({ faults }: WebhookInstance): void {
    const fail = () => Promise.reject(new Error("killed"));
    Object.assign(faults, { onGet: fail, onList: fail, onSnapshot: fail, onCommit: fail });
  }

  /** Adds a webhook, and resolves to its id. */
  async add(webhook: Partial<NewWebhook> & { url: string }): Promise<string> {
    const { runtime } = this;
    const id = runtime.newId();
    await runtime.settle(this.writer.eventStore.registerConsumers(WEBHOOKS_COLLECTION));
    const data = { webhookId: id, ...webhook, secretKey: KEYS.latest };
    await this.append({ id, type: "WebhookAdded", data });
    return id;
  }

  /** Appends an event of a webhook that changes its state. */
  async change(
    id: string,
    type: "WebhookRemoved" | "WebhookResumed" | "WebhookDisabled",
    change: Partial<Webhook> = {},
  ): Promise<void> {
    const { position: predecessor, ...state } = (await this.stateOf(id))!;
    await this.append({ type, data: { ...state, ...change }, predecessor });
  }

  async append(event: NewEvent<EventBody>): Promise<void> {
    const actor = this.keyId;
    await this.runtime.settle(this.writer.append({ actor, decide: () => [event] }));
  }

  /** The state of a webhook in the log, and the position of its last event; `undefined` if it was removed. */
  async stateOf(id: string): Promise<Webhook & { position: number } | undefined> {
    const { heads, webhooks } = this.writer;
    const { head } = await this.runtime.settle(heads.fresh());
    const records = await this.runtime.settle(Promise.resolve(webhooks.asOf(head)));
    const record = records.byId.get(id);
    if (record === undefined) return undefined;
    const { id: _, text: _text, isProven: _proven, ...state } = record;
    return state;
  }

  /** Adds pets, one after the other. */
  async addPets(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const pet = { name: "Rex", categoryId: 7n };
      const command = addPetCommand(this.runtime, this.keyId, pet);
      await this.runtime.settle(this.writer.appender.append(command));
    }
  }

  advance(ms: number): Promise<void> {
    return this.runtime.advance(ms);
  }

  /** The positions of what a receiver got, in order. */
  positionsOf(url: string): number[] {
    return this.received.filter((it) => it.url === url).map(({ position }) => position);
  }

  /** The positions of what a receiver confirmed, in order. */
  confirmedBy(url: string): number[] {
    return this.received.filter((it) => it.url === url && it.isConfirmed)
      .map(({ position }) => position);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { deliveries } of this.#instances) {
      if (deliveries !== undefined) await this.runtime.settle(deliveries.stop());
    }
    this.memory.close();
  }
}
