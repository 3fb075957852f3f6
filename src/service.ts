import { EventStore, type Runtime } from "eventstore-less";
import {
  type Appender,
  BackgroundWork,
  EventFeed,
  Followers,
  type HeadReader,
  IdempotencyKeySweep,
  readConsumersOf,
  secondsSinceEvent,
} from "eventstore-less/parts";
import { type Store, type StoreDamagedError, StoreFullError } from "eventstore-less/store";
import type { EventBody } from "../events/all_events.ts";
import { APPLICATION } from "./application.ts";
import { BodyReader } from "./api/requests/request_body.ts";
import { API_OPERATIONS, type ApiOperation } from "./http/api_operations.ts";
import { checkReadiness, type PublicDeps, publicOperations } from "./http/public_operations.ts";
import { createHandler, type HandlerDeps } from "./http/handler.ts";
import { RouteTable } from "./http/routes.ts";
import type { RequestHandler } from "./runtime/service_request.ts";
import { RateLimiter } from "./http/limits/rate_limiter.ts";
import { ApiKeyReader } from "./keys/api_key_reader.ts";
import { categoryPositionOf } from "./categories/category_counts.ts";
import { READ_CATEGORIES } from "./categories/category_reader.ts";
import { CollectionReader } from "./api/collection_reader.ts";
import { CallableAddresses } from "./webhooks/sending/callable_addresses.ts";
import { WebhookSender } from "./webhooks/sending/webhook_sender.ts";
import type { WebhookKeys } from "./webhooks/secrets.ts";
import { READ_WEBHOOKS, type WebhookReader } from "./webhooks/webhook_reader.ts";
import { NextApiKeyExpiry } from "./keys/next_api_key_expiry.ts";
import { PetIndexReader } from "./animals/pet_index_reader.ts";
import { PetReader } from "./animals/pet_reader.ts";
import { limitedLogger } from "./runtime/limited_logger.ts";
import type { Logger } from "./runtime/logger.ts";
import { AttemptLog } from "./webhooks/delivery/attempt_log.ts";
import { Deliveries } from "./webhooks/delivery/deliveries.ts";
import { Delivery, type DeliveryDeps } from "./webhooks/delivery/delivery.ts";
import type { Networks } from "./runtime/networks.ts";
import { consumerGauges } from "./telemetry/consumer_gauges.ts";
import { NO_INSTRUMENTATION, shielded } from "./runtime/instrumentation.ts";

/** One instance of the service. Production, tools and tests wire the same parts. */
export interface Service {
  /** Calls the endpoints of webhooks once it is started. `undefined` without a key for their secrets. */
  deliveries: Deliveries | undefined;
  append: EventStore<EventBody>["append"];
  /** The instance of the engine, without the caches of the service. */
  eventStore: EventStore<EventBody>;
  appender: Appender<EventBody>;
  index: PetIndexReader;
  /** Ends what clients could hold open: bodies that are still arriving, streams of events and waits for them. */
  endWaiting(): void;
  handler: RequestHandler;
  heads: HeadReader;
  /** Whether `/readyz` gets 200. A probe of the service by itself is no request. */
  isReady(): Promise<boolean>;
  /** Makes the service not ready, because a check has found this damage of the store's file. */
  noteDamage(damage: StoreDamagedError): void;
  runtime: Runtime;
  /** Limits the lines that repeat, so all parts report each failure. */
  report: Logger;
  /** The store, with a time limit on every call. */
  store: Store;
  /** Removes expired Idempotency-Keys once it is started. Commands do not start it. */
  sweep: IdempotencyKeySweep;
  webhooks: WebhookReader;
}

/** By default, no scripts may read responses, the store ends with the process, and nothing is reported or logged. */
export interface ServiceOptions extends
  Partial<
    Pick<HandlerDeps, "accessLog" | "corsOrigins" | "instrumentation" | "trustedProxies">
  >,
  Partial<Pick<PublicDeps, "isDurable" | "publicUrl" | "stagingUrl">> {
  appendLimitMs?: number;
  /** The operations of the interface; by default all of {@linkcode API_OPERATIONS}. */
  operations?: readonly ApiOperation[];
  store: Store;
  runtime: Runtime;
  report: Logger;
  /** Reads whether commits wait for a standby; `undefined` if the store has none to wait for. */
  areCommitsReplicated?: () => Promise<boolean | undefined>;
  /** Requests per second for each key; by default without a limit. */
  rateLimit?: number;
  /** Private addresses that webhooks may have; by default none. */
  webhookAllow?: Networks;
  /** The keys for the secrets of webhooks, which are off without them. */
  webhookKeys?: WebhookKeys;
  /** Calls the endpoints of webhooks; by default over the network. */
  webhookSender?: DeliveryDeps["sender"];
}

export function createService(options: ServiceOptions): Service {
  const { runtime, appendLimitMs, rateLimit, stagingUrl, trustedProxies } = options;
  const { publicUrl, accessLog = false, corsOrigins = [], isDurable = false } = options;
  const { operations = API_OPERATIONS } = options;
  const report = limitedLogger(options.report, runtime);
  const instrumentation = options.instrumentation === undefined
    ? NO_INSTRUMENTATION
    : shielded(options.instrumentation, report);
  const common = { runtime, report, instrumentation };
  const eventStore: EventStore<EventBody> = new EventStore(APPLICATION, options.store, {
    ...common,
    appendLimitMs,
    onCommitted(committed) {
      index.follow(committed.lines);
      pets.follow(committed);
      followers.onCommitted();
      deliveries?.onCommitted();
    },
  });
  const { appender, heads, store } = eventStore;
  const append = eventStore.append.bind(eventStore);
  const storeDamage = () => store.damage;
  const background = new BackgroundWork(runtime);
  const turn = () => background.turn("pages");
  const index = new PetIndexReader({ heads, store, runtime, report, turn });
  const readerDeps = { heads, runtime, store, storeDamage };
  const categories = new CollectionReader(READ_CATEGORIES, readerDeps);
  const webhooks = new CollectionReader(READ_WEBHOOKS, readerDeps);
  const pets = new PetReader({
    categoryNames: {
      asOf: async (head) => (await categories.asOf(head)).byId,
      changedAt: categoryPositionOf,
    },
    heads,
    index,
    store,
    monotonicNow: () => runtime.monotonicNow(),
    turn,
    isRestDue: () => background.isRestDue,
    storeDamage,
  });
  const attempts = new AttemptLog({ runtime, store });
  const callableAddresses = new CallableAddresses(options.webhookAllow);
  const { webhookKeys, webhookSender: sender } = options;
  const delivery = webhookKeys &&
    new Delivery({
      ...common,
      append,
      attempts,
      background,
      heads,
      keys: webhookKeys,
      sender: sender ?? new WebhookSender({ runtime, callable: callableAddresses }),
      store,
      webhooks,
    });
  const knownConsumers = async () => {
    return (await readConsumersOf(APPLICATION, store)).map(({ name }) => name);
  };
  const deliveries = delivery &&
    new Deliveries({ ...common, attempts, delivery, eventStore, heads, webhooks, knownConsumers });
  const feed = new EventFeed(APPLICATION, store, background);
  const apiKeys = new ApiKeyReader(store, runtime);
  const followers = new Followers({
    heads,
    authorize: (token, head) => apiKeys.authorize(token, head, runtime.now()),
    runtime,
  });
  const bodies = new BodyReader(runtime);
  const rateLimiter = rateLimit === undefined ? undefined : new RateLimiter(rateLimit, runtime);
  const publicDeps: PublicDeps = {
    appender,
    background,
    heads,
    index,
    isDurable,
    operations,
    publicUrl,
    report,
    stagingUrl,
    storeDamage,
  };
  const routes = new RouteTable([...operations, ...publicOperations(publicDeps)]);
  const handler = createHandler({
    accessLog,
    append,
    background,
    bodies,
    categories,
    corsOrigins,
    feed,
    followers,
    heads,
    index,
    instrumentation,
    apiKeys,
    pets,
    publicUrl,
    rateLimiter,
    report,
    routes,
    runtime,
    store,
    storeDamage,
    trustedProxies,
    attempts,
    callableAddresses,
    delivery,
    eventStore,
    webhookKeys,
    webhooks,
  });
  const isReady = async () => (await checkReadiness(publicDeps)).status === 200;
  const keyExpiry = new NextApiKeyExpiry({ heads, store, runtime });
  instrumentation.observe({
    "followers": () => followers.size,
    "queue.length": () => appender.queueLength,
    "head.position": () => heads.latest?.head.position,
    "event.age.seconds": () =>
      secondsSinceEvent(APPLICATION, store, runtime, heads.latest?.head.position),
    "index.fill.seconds": () => index.fillSeconds,
    "ready": async () => Number(await isReady()),
    "key.expiry.time.seconds": async () => {
      const next = await keyExpiry.read();
      return next && { labels: { key: next.id }, value: next.expiresAt / 1_000 };
    },
    ...consumerGauges(store, runtime),
    "webhooks.disabled": async () => {
      if (heads.latest === undefined) return undefined;
      const { byId } = await webhooks.asOf(heads.latest.head);
      return [...byId.values()].filter((it) => it.disabledReason !== undefined).length;
    },
    "storage.full": () => Number(appender.fault instanceof StoreFullError),
    "commits.replicated": async () => {
      const areReplicated = await options.areCommitsReplicated?.();
      return areReplicated === undefined ? undefined : Number(areReplicated);
    },
  });
  const isStoreSound = () => appender.fault === undefined && store.damage === undefined;
  const sweep = new IdempotencyKeySweep({
    ...common,
    application: APPLICATION,
    background,
    heads,
    store,
    isStoreSound,
  });
  const endWaiting = () => {
    bodies.cancel();
    delivery?.endCalls();
    followers.endAll();
  };
  const noteDamage = (damage: StoreDamagedError) => store.noteDamage(damage);
  return {
    append,
    appender,
    deliveries,
    eventStore,
    endWaiting,
    handler,
    heads,
    index,
    isReady,
    noteDamage,
    runtime,
    report,
    store,
    sweep,
    webhooks,
  };
}
