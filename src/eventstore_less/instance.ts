import type { Application } from "./application.ts";
import type { Body } from "./definitions.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "./runtime/instrumentation.ts";
import type { Logger } from "./runtime/logger.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { APPEND_LIMIT_MS, Appender, type Committed } from "./append/appender.ts";
import { HEAD_KEY } from "./keyspace.ts";
import { HeadReader } from "./log/head_reader.ts";
import { ResilientStore } from "./store/resilience/resilient_store.ts";
import type { Store } from "./store/store.ts";

/** An instance of the engine on a store. Others may work on the same store, in this process or in another one. */
export interface Instance<EventBody extends Body = Body> {
  application: Application<EventBody>;
  appender: Appender<EventBody>;
  heads: HeadReader;
  runtime: Runtime;
  /** The store, with a time limit on every call. */
  store: ResilientStore;
}

export interface InstanceOptions<EventBody extends Body = Body> {
  application: Application<EventBody>;
  store: Store;
  runtime: Runtime;
  /** By default, nothing is reported. */
  report?: Logger;
  /** By default, nothing is measured. */
  instrumentation?: Instrumentation;
  /** By default {@linkcode APPEND_LIMIT_MS}. */
  appendLimitMs?: number;
  /** Called after every commit of this instance that landed. */
  onCommitted?(committed: Committed<EventBody>): void;
}

export function createInstance<EventBody extends Body>(
  options: InstanceOptions<EventBody>,
): Instance<EventBody> {
  const { application, runtime, report = () => {}, instrumentation = NO_INSTRUMENTATION } = options;
  const { appendLimitMs = APPEND_LIMIT_MS } = options;
  const common = { runtime, report, instrumentation };
  const store = new ResilientStore(options.store, { ...common, probeKey: HEAD_KEY });
  const heads = new HeadReader(application, store, runtime, report);
  const appender = new Appender<EventBody>({
    ...common,
    application,
    appendLimitMs,
    store,
    heads,
    onCommitted: (committed) => options.onCommitted?.(committed),
  });
  return { application, appender, heads, runtime, store };
}
