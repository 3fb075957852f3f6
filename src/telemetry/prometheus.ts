/** The metrics for Prometheus. This module is loaded only if `METRICS_PORT` is set. */

import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Runtime } from "../runtime/runtime.ts";
import {
  COUNTERS,
  DURATIONS,
  GAUGES,
  type Gauges,
  type Instrumentation,
  kindOf,
  NO_INSTRUMENTATION,
} from "./instrumentation.ts";

/** Time between two samples of the delay of the event loop, in milliseconds. */
const SAMPLE_MS = 100;

/**
 * Returns the instrumentation, and the handler of `GET /metrics`. `storeFile` is the path of a store in a file. What
 * happens is passed on to `next`.
 */
export function prometheus(
  runtime: Runtime,
  storeFile: string | undefined,
  next: Instrumentation = NO_INSTRUMENTATION,
) {
  const registry = new Registry();
  const registers = [registry];
  const counters = new Map(
    Object.entries(COUNTERS).map(([name, { description: help, attributes: labelNames }]) => {
      const options = { name: `${nameOf(name)}_total`, help, labelNames, registers };
      return [name, new Counter<string>(options)];
    }),
  );
  const durations = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Histogram({ name: nameOf(name, "s"), help, labelNames, buckets: DURATIONS, registers });
  const responses = durations(
    "request.duration",
    "Time until a response, or its stream, began",
    "operation",
    "status",
  );
  const storeCalls = durations("store.call.duration", "Time of a store call", "operation", "kind");
  const delays = durations("event.loop.delay", "How late timers are");
  /** A value that cannot be read now is left out. */
  const gauge = (name: string, help: string, read: Gauges[keyof Gauges]) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await Promise.try(read).catch(() => undefined);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  // The names of these are those of Prometheus' own clients.
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage().rss);
  gauge("process_heap_bytes", "Used heap of V8", () => process.memoryUsage().heapUsed);
  if (storeFile !== undefined) {
    const fileSize = async () => (await stat(storeFile)).size;
    const freeSpace = async () => {
      const { bavail, bsize } = await statfs(dirname(storeFile));
      return bavail * bsize;
    };
    gauge("animal_store_file_bytes", "Size of the store's file", fileSize);
    gauge("animal_store_disk_free_bytes", "Free space on the disk of the store's file", freeSpace);
  }
  sampleDelay();

  function sampleDelay(): void {
    const dueMs = runtime.monotonicNow() + SAMPLE_MS;
    runtime.setTimer(SAMPLE_MS, () => {
      delays.observe(Math.max(0, runtime.monotonicNow() - dueMs) / 1_000);
      sampleDelay();
    });
  }

  const instrumentation: Instrumentation = {
    ...next,
    onResponse(operation = "unknown", status, seconds) {
      responses.labels(operation, String(status)).observe(seconds);
    },
    count(what, attributes = {}) {
      next.count(what, attributes);
      counters.get(what)!.inc(attributes);
    },
    onStoreCall(operation, key, seconds) {
      next.onStoreCall(operation, key, seconds);
      storeCalls.labels(operation, key && kindOf(key) || "").observe(seconds);
    },
    observe(gauges) {
      next.observe(gauges);
      for (const [name, { unit, description }] of Object.entries(GAUGES)) {
        gauge(nameOf(name, unit), description, gauges[name as keyof Gauges]);
      }
    },
  };

  async function handler({ method, url }: Request): Promise<Response> {
    if (method !== "GET" || URL.parse(url)?.pathname !== "/metrics") {
      return new Response("Use GET /metrics\n", { status: 404 });
    }
    return new Response(await registry.metrics(), {
      headers: { "content-type": registry.contentType },
    });
  }

  return { instrumentation, handler };
}

/** As OpenTelemetry's collector translates names and units. */
function nameOf(name: string, unit?: string): string {
  return `animal_store_${name.replaceAll(".", "_")}${unit === "s" ? "_seconds" : ""}`;
}
