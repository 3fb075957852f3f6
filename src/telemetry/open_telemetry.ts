/** The instrumentation on Deno's own OpenTelemetry. This module is loaded only if `OTEL_DENO=true`. */

import { metrics, trace } from "@opentelemetry/api";
import { redactKeys } from "../runtime/redact_keys.ts";
import { COUNTERS, DURATIONS, GAUGES, type Instrumentation, kindOf } from "./instrumentation.ts";

const NAME = "animal-store";
const meter = metrics.getMeter(NAME);

redactSpans();

const counters = new Map(
  Object.entries(COUNTERS).map(([name, [unit, description]]) => {
    return [name, meter.createCounter(`animal_store.${name}`, { unit, description })];
  }),
);
const storeDuration = meter.createHistogram("db.client.operation.duration", {
  unit: "s",
  description: "Duration of calls of the store",
  advice: { explicitBucketBoundaries: DURATIONS },
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
    observe(gauges) {
      for (const [name, [unit, description]] of Object.entries(GAUGES)) {
        const gauge = meter.createObservableGauge(`animal_store.${name}`, { unit, description });
        gauge.addCallback(async (result) => {
          const value = await gauges[name as keyof typeof GAUGES]();
          if (value !== undefined) result.observe(value);
        });
      }
    },
  };
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
