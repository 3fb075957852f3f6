/**
 * The instrumentation on Deno's own OpenTelemetry (`OTEL_DENO=true`). The standard variables set the
 * destination of the spans and metrics (`OTEL_EXPORTER_OTLP_ENDPOINT` and others). This module is loaded only
 * if OpenTelemetry is on.
 */

import {
  type Attributes,
  type Context,
  context,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { findRoute, requestTarget } from "../http/routes.ts";
import { reasonOf } from "../runtime/logger.ts";
import { redactKeys } from "../runtime/redact_keys.ts";
import type { Instrumentation } from "./instrumentation.ts";

const NAME = "animal-store";
const tracer = trace.getTracer(NAME);
const meter = metrics.getMeter(NAME);

redactSpans();

const eventsAppended = meter.createCounter("animal_store.events.appended", {
  description: "Events that this instance appended",
  unit: "{event}",
});
const commitEvents = histogram("animal_store.commit.events", "{event}", {
  description: "Events in one commit",
  boundaries: [1, 2, 5, 10, 20, 50, 100, 200, 500],
});
const commitDuration = histogram("animal_store.commit.duration", "s", {
  description: "Time that the store took for one commit, whatever became of it",
  boundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
});
const conflicts = meter.createCounter("animal_store.commit.conflicts", {
  description: "Commits that conflicted with one of another instance, and are retried",
  unit: "{commit}",
});
const unclear = meter.createCounter("animal_store.commit.unclear", {
  description:
    "Attempts to commit without a clear outcome, after which the log was read to find it",
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
const soundAudit = meter.createGauge("animal_store.audit.success.time", {
  description: "Unix time of the last audit that found the store sound",
  unit: "s",
});
const storeDuration = histogram("db.client.operation.duration", "s", {
  description: "Duration of calls of the store",
  boundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
});
const toolProgress = meter.createGauge("animal_store.tool.progress", {
  description: "How far a phase of a replay, an audit or a restore is",
});

export const OPEN_TELEMETRY: Instrumentation<Context> = {
  onRequest({ method, url }, requestId) {
    const span = trace.getActiveSpan();
    span?.setAttribute("http.response.header.x-request-id", [requestId]);
    // `new URL` would throw on the URL of a request with a malformed Host, which the handler must refuse.
    const route = findRoute(requestTarget(url).path)?.path;
    if (route === undefined) return;
    // The server's span is named after the route, because there are few routes.
    span?.setAttribute("http.route", route);
    span?.updateName(`${method} ${route}`);
  },
  onCredentialsRefused: (reason) => credentialsRefused.add(1, { reason }),
  onCacheRead: (cache, result) => cacheReads.add(1, { cache, result }),

  trace: (operation, run) => inSpan(operation, {}, run),
  ...storeTracing("deno.kv"),
  async traceCommit(callers, events, run) {
    // A span has only one parent, so the other requests that share the commit are linked.
    const [parent = ROOT_CONTEXT, ...others] = callers;
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

  capture: () => context.active(),
  restore: (captured, run) => context.with(captured ?? ROOT_CONTEXT, run),

  onCommitted(events) {
    eventsAppended.add(events);
    commitEvents.record(events);
  },
  onConflict: () => conflicts.add(1),
  onUnclearOutcome: () => unclear.add(1),

  onProgress: (phase, unit, done) => toolProgress.record(done, { phase, unit }),
  onSoundAudit: (time) => soundAudit.record(time / 1_000),
  observe({ queueLength, headPosition, secondsSinceEvent }) {
    const newest = "the newest event that this instance knows of";
    observed("queue.length", "{command}", "Commands that wait for a commit", queueLength);
    observed("head.position", "{event}", `Position of ${newest}`, headPosition);
    observed("event.age", "s", `Time since ${newest}`, secondsSinceEvent);
  },
};

function histogram(
  name: string,
  unit: string,
  { description, boundaries }: { description: string; boundaries: number[] },
) {
  const advice = { explicitBucketBoundaries: boundaries };
  return meter.createHistogram(name, { unit, description, advice });
}

/** A value that is read from time to time, and left out while it is not known. */
function observed(
  name: string,
  unit: string,
  description: string,
  read: () => number | undefined | Promise<number | undefined>,
): void {
  const gauge = meter.createObservableGauge(`animal_store.${name}`, { unit, description });
  gauge.addCallback(async (result) => {
    const value = await read();
    if (value !== undefined) result.observe(value);
  });
}

/** The same for a store on PostgreSQL. */
export const OPEN_TELEMETRY_ON_POSTGRES: Instrumentation<Context> = {
  ...OPEN_TELEMETRY,
  ...storeTracing("postgresql"),
};

/** Runs the operations of a store in spans of their own. */
function storeTracing(
  system: string,
): Pick<Instrumentation, "traceStoreRead" | "traceStoreCommit"> {
  async function inStoreSpan<T>(
    operation: string,
    target: string | undefined,
    run: () => Promise<T>,
    more?: Attributes,
  ): Promise<T> {
    // OpenTelemetry ignores an attribute without a value.
    const attributes: Attributes = {
      "db.system.name": system,
      "db.operation.name": operation,
      "db.collection.name": target,
    };
    const options = { kind: SpanKind.CLIENT, attributes: { ...attributes, ...more } };
    const start = performance.now();
    try {
      return await inSpan(`${operation} ${target ?? "records"}`, options, run);
    } finally {
      storeDuration.record((performance.now() - start) / 1_000, attributes);
    }
  }
  return {
    traceStoreRead: (operation, key, run) => inStoreSpan(operation, kindOf(key), run),
    traceStoreCommit: (mutations, run) =>
      inStoreSpan("commit", undefined, run, { "db.operation.batch.size": mutations }),
  };
}

/** Returns only the kind of the records, because the rest of a key may contain the hash of a token. */
function kindOf(key: readonly unknown[]): string | undefined {
  const kind = key[0] === "projection" ? key[2] : key[0];
  return kind === undefined ? undefined : String(kind);
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

/** The methods that OpenTelemetry knows. Any other one, which a client may choose freely, is one value. */
const METHODS = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/**
 * Redacts API keys in the names and attributes of all spans, and unknown methods. Deno sets the URL and the
 * method of a request on its own span before it calls the handler. A later setAttribute() adds a value instead
 * of replacing the first. So the class of Deno's spans is patched to redact each value as it is set. The metrics
 * that Deno makes of requests cannot be changed.
 */
function redactSpans(): void {
  const span = tracer.startSpan("redaction");
  span.end();
  const spanClass = Object.getPrototypeOf(span);
  const { setAttribute, updateName } = spanClass;
  spanClass.setAttribute = function (name: string, value: unknown) {
    const isOther = name === "http.request.method" && !METHODS.includes(value as string);
    const redacted = typeof value === "string" ? redactKeys(value) : value;
    return setAttribute.call(this, name, isOther ? "_OTHER" : redacted);
  };
  // The new name of a span is its method, or begins with it.
  spanClass.updateName = function (name: string) {
    const known = name.replace(/^\S+/, (method) => METHODS.includes(method) ? method : "HTTP");
    return updateName.call(this, redactKeys(known));
  };
}
