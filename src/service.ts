import { BodyReader } from "./http/requests/request_body.ts";
import { createHandler, type HandlerDeps, type RequestHandler } from "./http/handler.ts";
import { RateLimiter } from "./http/limits/rate_limiter.ts";
import { RefusedCredentials } from "./http/limits/refused_credentials.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { APPEND_LIMIT_MS, Appender } from "./append/appender.ts";
import { HeadReader } from "./log/head_reader.ts";
import { HEAD_KEY } from "./keyspace.ts";
import { secondsSinceEvent } from "./log/read_log.ts";
import { project } from "./projections/project.ts";
import { ApiKeyReader } from "./projections/api_key_reader.ts";
import { PetReader } from "./projections/pet_reader.ts";
import type { Logger } from "./runtime/logger.ts";
import { ResilientStore } from "./store/resilience/resilient_store.ts";
import type { Store } from "./store/store.ts";
import { NO_INSTRUMENTATION } from "./telemetry/instrumentation.ts";

/** One instance of the service. Production, tools and tests wire the same parts. */
export interface Service {
  appender: Appender;
  /** Rejects bodies that are still arriving, and every later body, with `shutting_down`. */
  cancelBodies(): void;
  handler: RequestHandler;
  heads: HeadReader;
  runtime: Runtime;
  report: Logger;
  /** The store, with a time limit on every call. */
  store: Store;
}

/** By default, no scripts may read responses, the store ends with the process, and nothing is reported. */
export interface ServiceOptions
  extends
    Partial<Pick<HandlerDeps, "addresses" | "corsOrigins" | "instrumentation" | "isDurable">> {
  /** Maximum wait of a command for its outcome, in milliseconds. */
  appendLimitMs?: number;
  store: Store;
  runtime: Runtime;
  report: Logger;
  /** Requests per second for each key; by default without a limit. */
  rateLimit?: number;
}

export function createService(options: ServiceOptions): Service {
  const { runtime, report, appendLimitMs = APPEND_LIMIT_MS, rateLimit } = options;
  const { addresses = {}, corsOrigins = [], isDurable = false } = options;
  const { instrumentation = NO_INSTRUMENTATION } = options;
  const common = { runtime, report, instrumentation };
  const store = new ResilientStore(options.store, { ...common, probeKey: HEAD_KEY });
  const heads = new HeadReader(store, runtime, report, instrumentation);
  const pets = new PetReader(store, instrumentation, () => heads.read());
  const appender = new Appender({ ...common, appendLimitMs, store, heads, project, cache: pets });
  instrumentation.observe({
    queueLength: () => appender.queueLength,
    headPosition: () => heads.latest?.head.position,
    secondsSinceEvent: () => secondsSinceEvent(store, runtime, heads.latest?.head.position),
  });
  const bodies = new BodyReader(runtime);
  const handler = createHandler({
    ...common,
    addresses,
    appender,
    bodies,
    corsOrigins,
    heads,
    isDurable,
    keys: new ApiKeyReader(store, runtime, instrumentation),
    pets,
    rateLimiter: rateLimit === undefined ? undefined : new RateLimiter(rateLimit, runtime),
    refusedCredentials: new RefusedCredentials(runtime, report),
    store,
    storeDamage: () => store.damage,
  });
  const cancelBodies = () => bodies.cancel();
  return { appender, cancelBodies, handler, heads, runtime, report, store };
}
