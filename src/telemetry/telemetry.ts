/**
 * Spans and metrics of one instance, on Deno's own OpenTelemetry (`OTEL_DENO=true`). The standard variables
 * set their destination (`OTEL_EXPORTER_OTLP_ENDPOINT` and others). This module is loaded only if
 * OpenTelemetry is on; otherwise the service uses its plain parts.
 */

import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { RequestHandler } from "../http/handler.ts";
import { requestTarget } from "../http/request_target.ts";
import type { RefusalReason } from "../http/refused_credentials.ts";
import type { AppendObserver } from "../append/append_observer.ts";
import { Appender } from "../append/appender.ts";
import type { Command } from "../append/command.ts";
import { HeadReader } from "../log/head_reader.ts";
import { KeyReader } from "../projections/key_reader.ts";
import { type PageQuery, PetReader } from "../projections/pet_reader.ts";
import type { Head } from "../log/head.ts";
import { redactKeys } from "../runtime/redact_keys.ts";
import { reasonOf } from "../runtime/logger.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "../store/store.ts";

const NAME = "animal-store";
const tracer = trace.getTracer(NAME);
const meter = metrics.getMeter(NAME);

redactSpans();

const eventsAppended = meter.createCounter("animal_store.events.appended", {
  description: "Events that this instance appended",
  unit: "{event}",
});
const commitEvents = meter.createHistogram("animal_store.commit.events", {
  description: "Events in one commit",
  unit: "{event}",
  advice: { explicitBucketBoundaries: [1, 2, 5, 10, 20, 50, 100, 200, 500] },
});
const commitDuration = meter.createHistogram("animal_store.commit.duration", {
  description: "Time that the store took for one commit, whatever became of it",
  unit: "s",
  advice: {
    explicitBucketBoundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
  },
});
const conflicts = meter.createCounter("animal_store.commit.conflicts", {
  description: "Commits that gave way to one of another instance, to be made anew",
  unit: "{commit}",
});
const unclear = meter.createCounter("animal_store.commit.unclear", {
  description: "Commits that gave no clear answer, so that the log was asked what became of them",
  unit: "{commit}",
});
const credentialsRefused = meter.createCounter("animal_store.credentials.refused", {
  description: "Requests that were answered 401",
  unit: "{request}",
});
const cacheReads = meter.createCounter("animal_store.cache.reads", {
  description:
    "Look-ups of a cache, by whether it had the answer (hit) or the store was asked (miss)",
  unit: "{read}",
});
const toolProgress = meter.createGauge("animal_store.tool.progress", {
  description: "How far a phase of a replay, an audit or a restore is",
});

/** The parts of a measured instance. Each part behaves like the plain one. */
export const telemetry = {
  store: (store: Store): Store => new MeasuredStore(store),
  HeadReader: class extends HeadReader {
    override fresh() {
      return inSpan("head fresh", {}, () => super.fresh());
    }
  },
  KeyReader: class extends KeyReader {
    override authorize(token: string, head: Head, now: number) {
      return countingCache("keys", () => super.authorize(token, head, now));
    }
  },
  PetReader: class extends PetReader {
    override get(id: number, head: Head) {
      return countingCache("pets", () => super.get(id, head));
    }

    override list(query: PageQuery, head: Head) {
      return countingCache("pages", () => super.list(query, head));
    }
  },
  Appender: class extends Appender {
    override append(command: Command) {
      return inSpan("append", {}, () => super.append(command));
    }
  },
  handler: nameRoutes,
  countRefusedCredentials: (reason: RefusalReason) => credentialsRefused.add(1, { reason }),
  observe,
  get watch() {
    return appendObserver;
  },
};
export type Telemetry = typeof telemetry;

/** Registers the metrics that are read from an instance at each export. */
function observe({ appender, heads }: { appender: Appender; heads: HeadReader }): void {
  meter.createObservableGauge("animal_store.queue.length", {
    description: "Commands that wait for a commit",
    unit: "{command}",
  }).addCallback((result) => result.observe(appender.queueLength));
  meter.createObservableGauge("animal_store.head.position", {
    description: "Position of the newest event that this instance knows of",
    unit: "{event}",
  }).addCallback((result) => {
    const position = heads.latest?.head.position;
    if (position !== undefined) result.observe(position);
  });
}

export function recordToolProgress(phase: string, unit: string, done: number): void {
  toolProgress.record(done, { phase, unit });
}

/** Attaches the span of a commit to the requests that wait for it, and counts the outcomes of commits. */
const appendObserver: AppendObserver<Context> = {
  context: () => context.active(),
  within: (origin, run) => context.with(origin ?? ROOT_CONTEXT, run),
  async commit(origins, events, run) {
    // A span has only one parent, so the other requests that share the commit are linked.
    const [parent = ROOT_CONTEXT, ...others] = origins;
    const links = others.flatMap((other) => {
      const spanContext = trace.getSpanContext(other);
      return spanContext === undefined ? [] : [{ context: spanContext }];
    });
    const attributes = { "animal_store.events": events };
    const start = performance.now();
    try {
      return await inSpan("commit", { attributes, links }, run, parent);
    } finally {
      commitDuration.record((performance.now() - start) / 1_000);
    }
  },
  landed(events) {
    eventsAppended.add(events);
    commitEvents.record(events);
  },
  lost: () => conflicts.add(1),
  unclear: () => unclear.add(1),
};

/** Records whether a cache look-up had to read the store. */
interface Asking {
  isAsked: boolean;
}

const ASKING = createContextKey("animal-store asking");

/** Creates a span for every call, and marks the cache look-up that caused the call as a miss. */
class MeasuredStore implements Store {
  #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return inStoreSpan("get", recordsOf(key), () => this.#store.get(key));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    const key = "prefix" in range ? range.prefix : range.start;
    return inStoreSpan("list", recordsOf(key), () => this.#store.list(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    const attributes = { "db.operation.batch.size": commit.mutations.length };
    return inStoreSpan("commit", attributes, () => this.#store.commit(commit));
  }

  close(): void {
    this.#store.close();
  }
}

/** Returns only the kind of the records, because the rest of a key may contain the hash of a token. */
function recordsOf(key: Deno.KvKey): Attributes {
  const kind = key[0] === "projection" ? key[2] : key[0];
  return kind === undefined ? {} : { "db.collection.name": String(kind) };
}

function inStoreSpan<T>(operation: string, more: Attributes, run: () => Promise<T>): Promise<T> {
  const asking = context.active().getValue(ASKING) as Asking | undefined;
  if (asking !== undefined) asking.isAsked = true;
  const attributes = { "db.system.name": "deno.kv", "db.operation.name": operation, ...more };
  return inSpan(`store ${operation}`, { kind: SpanKind.CLIENT, attributes }, run);
}

function inSpan<T>(
  name: string,
  options: SpanOptions,
  run: () => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  return tracer.startActiveSpan(name, options, parent, async (span: Span) => {
    try {
      return await run();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: redactKeys(reasonOf(error)) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Counts a look-up as a miss if it read the store. A promise alone does not mean a miss. */
function countingCache<Answer>(cache: string, look: () => Answer): Answer {
  const asking: Asking = { isAsked: false };
  const count = () => cacheReads.add(1, { cache, result: asking.isAsked ? "miss" : "hit" });
  const answer = context.with(context.active().setValue(ASKING, asking), look);
  if (answer instanceof Promise) return answer.finally(count) as Answer;
  count();
  return answer;
}

/**
 * Redacts API keys in the names and attributes of all spans. Deno sets the URL of a request on its own span
 * before it calls the handler. A later setAttribute() adds a value instead of replacing the first. So the
 * class of Deno's spans is patched to redact each value as it is set.
 */
function redactSpans(): void {
  const span = tracer.startSpan("redaction");
  span.end();
  const spanClass = Object.getPrototypeOf(span);
  for (const method of ["setAttribute", "updateName"]) {
    const plain = spanClass[method];
    spanClass[method] = function (...values: unknown[]) {
      return plain.apply(
        this,
        values.map((value) => typeof value === "string" ? redactKeys(value) : value),
      );
    };
  }
}

/** Names the server's span of a request after its route, because there are few routes. */
function nameRoutes(handler: RequestHandler): RequestHandler {
  return (request, connection) => {
    // `new URL` would throw on the URL of a request with a malformed Host, which the handler must refuse.
    const route = requestTarget(request.url).path.replace(/^(\/v1\/pets\/).+/, "$1{petId}");
    const span = trace.getActiveSpan();
    if (ROUTES.has(route)) {
      span?.setAttribute("http.route", route);
      span?.updateName(`${request.method} ${route}`);
    }
    return handler(request, connection);
  };
}

const ROUTES = new Set([
  "/v1/pets",
  "/v1/pets/{petId}",
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/docs",
  "/",
]);
