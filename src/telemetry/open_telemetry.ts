/** The instrumentation on Deno's own OpenTelemetry. This module is loaded only if `OTEL_DENO=true`. */

import { metrics, trace } from "@opentelemetry/api";
import { redactKeys } from "../runtime/redact_keys.ts";
import type { Counter, Instrumentation } from "./instrumentation.ts";

const NAME = "animal-store";
const meter = metrics.getMeter(NAME);

redactSpans();

const COUNTERS: Record<Counter, [unit: string, description: string]> = {
  "events.appended": ["{event}", "Events that this instance appended, by type"],
  "commit.conflicts": [
    "{commit}",
    "Commits that conflicted with one of another instance, and are retried",
  ],
  "commit.unclear": [
    "{commit}",
    "Attempts to commit without a clear outcome, after which the log was read to find it",
  ],
  "credentials.refused": ["{request}", "Requests that were answered 401"],
};
const counters = new Map(
  Object.entries(COUNTERS).map(([name, [unit, description]]) => {
    return [name, meter.createCounter(`animal_store.${name}`, { unit, description })];
  }),
);
const storeDuration = meter.createHistogram("db.client.operation.duration", {
  unit: "s",
  description: "Duration of calls of the store",
  advice: {
    explicitBucketBoundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
  },
});
export const soundAudit = meter.createGauge("animal_store.audit.success.time", {
  description: "Unix time of the last audit that found the store sound",
  unit: "s",
});
/** By `phase` and `unit`. */
export const toolProgress = meter.createGauge("animal_store.tool.progress", {
  description: "How far a phase of a replay, an audit or a restore is",
});

/** `routeOf` returns the path of the route that a URL belongs to. */
export function openTelemetry(
  system: "postgresql" | "deno.kv",
  routeOf: (url: string) => string | undefined,
): Instrumentation {
  return {
    onRequest({ method, url }, requestId) {
      const span = trace.getActiveSpan();
      span?.setAttribute("http.response.header.x-request-id", [requestId]);
      const route = routeOf(url);
      if (route === undefined) return;
      // The server's span is named after the route, because there are few routes.
      span?.setAttribute("http.route", route);
      span?.updateName(`${method} ${route}`);
    },
    count: (what, attributes) => counters.get(what)!.add(1, attributes),
    onStoreCall(operation, key, seconds) {
      // OpenTelemetry ignores an attribute without a value.
      storeDuration.record(seconds, {
        "db.system.name": system,
        "db.operation.name": operation,
        "db.collection.name": key && kindOf(key),
      });
    },
    observe({ followers, queueLength, headPosition, secondsSinceEvent }) {
      const newest = "the newest event that this instance knows of";
      observed("followers", "{request}", "Streams of events, and waits for events", followers);
      observed("queue.length", "{command}", "Commands that wait for a commit", queueLength);
      observed("head.position", "{event}", `Position of ${newest}`, headPosition);
      observed("event.age", "s", `Time since ${newest}`, secondsSinceEvent);
    },
  };
}

/** A value is left out while it is not known. */
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

/** Returns only the kind of the records, because the rest of a key may contain the hash of a token. */
function kindOf(key: readonly unknown[]): string | undefined {
  const kind = key[0] === "projection" ? key[2] : key[0];
  return kind === undefined ? undefined : String(kind);
}

/** The methods that OpenTelemetry knows. Any other one, which a client may choose freely, is one value. */
const METHODS = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/**
 * Redacts API keys in the names and attributes of all spans, and unknown methods. Deno sets the URL and the method of
 * a request on its span before it calls the handler, and a later setAttribute() adds a value instead of replacing it.
 * So the class of spans is patched to redact as values are set. The metrics that Deno makes cannot be changed.
 */
function redactSpans(): void {
  const span = trace.getTracer(NAME).startSpan("redaction");
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
