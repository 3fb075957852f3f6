/** The metrics for Prometheus. This module is loaded only if `METRICS_PORT` is set. */

import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
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

/** The labels of a series as in the text: each with a comma after it. Their values need no escapes. */
type Labels = string;

type Sample = [suffix: string, value: number];

/**
 * Returns the instrumentation, and the handler of `GET /metrics`. `storeFile` is the path of a store in a file. What
 * happens is passed on to `next`. A client from npm (prom-client 15.1.3) costs each request 1 µs, and this half of it.
 */
export function prometheus(
  runtime: Runtime,
  storeFile: string | undefined,
  next: Instrumentation = NO_INSTRUMENTATION,
) {
  const families: (() => Promise<string>)[] = [];
  const family = (
    type: string,
    name: string,
    help: string,
    read: () => Iterable<Sample> | Promise<Iterable<Sample>>,
  ) => {
    families.push(async () => {
      // A value that cannot be read now is left out.
      const samples = await Promise.try(read).catch((): Sample[] => []);
      const lines = Array.from(samples, ([suffix, value]) => `${name}${suffix} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    });
  };
  const gauge = (name: string, help: string, read: Gauges[keyof Gauges]) =>
    family("gauge", name, help, async () => {
      const value = await read();
      return value === undefined ? [] : [["", value]];
    });
  const histogram = (name: string, help: string) => {
    const durations = new Durations();
    family("histogram", name, help, () => durations.samples());
    return durations;
  };

  const counters = new Map(
    Object.entries(COUNTERS).map(([name, { description, known }]) => {
      const counts = new Map<Labels, number>(known.map((it) => [labelsOf(it), 0]));
      family("counter", `${nameOf(name)}_total`, description, () => {
        return Array.from(counts, ([labels, count]) => [`{${labels}}`, count]);
      });
      return [name, counts];
    }),
  );
  const responses = histogram(
    "animal_store_request_duration_seconds",
    "Time until a response, or its stream, began, by operation and status",
  );
  const storeCalls = histogram(
    "animal_store_store_call_duration_seconds",
    "Time of a call of the store, by operation and kind of record",
  );
  const delays = histogram("animal_store_event_loop_delay_seconds", "How late a timer is");
  // Prometheus' own clients use these names.
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage().rss);
  gauge("process_heap_bytes", "Used heap of V8", () => process.memoryUsage().heapUsed);
  if (storeFile !== undefined) {
    gauge("animal_store_file_bytes", "Size of the store's file", async () => {
      return (await stat(storeFile)).size;
    });
    gauge("animal_store_disk_free_bytes", "Free space on the disk of that file", async () => {
      const { bavail, bsize } = await statfs(dirname(storeFile));
      return bavail * bsize;
    });
  }
  sampleDelay();

  function sampleDelay(): void {
    const dueMs = runtime.monotonicNow() + SAMPLE_MS;
    runtime.setTimer(SAMPLE_MS, () => {
      delays.add("", Math.max(0, runtime.monotonicNow() - dueMs) / 1_000);
      sampleDelay();
    });
  }

  const instrumentation: Instrumentation = {
    ...next,
    onResponse(operation = "unknown", status, seconds) {
      responses.add(`operation="${operation}",status="${status}",`, seconds);
    },
    count(what, attributes) {
      next.count(what, attributes);
      const counts = counters.get(what)!;
      const labels = labelsOf(attributes);
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    onStoreCall(operation, key, seconds) {
      next.onStoreCall(operation, key, seconds);
      storeCalls.add(`operation="${operation}",kind="${key && kindOf(key) || ""}",`, seconds);
    },
    observe(gauges) {
      next.observe(gauges);
      for (const [name, { unit, description }] of Object.entries(GAUGES)) {
        const suffix = unit === "s" ? "_seconds" : "";
        gauge(nameOf(name) + suffix, description, gauges[name as keyof Gauges]);
      }
    },
  };

  async function handler({ method, url }: Request): Promise<Response> {
    if (method !== "GET" || URL.parse(url)?.pathname !== "/metrics") {
      return new Response("Use GET /metrics\n", { status: 404 });
    }
    const texts = await Promise.all(families.map((text) => text()));
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(texts.join(""), { headers });
  }

  return { instrumentation, handler };
}

/** The series of a histogram. */
class Durations {
  #series = new Map<Labels, { buckets: number[]; sum: number }>();

  add(labels: Labels, seconds: number): void {
    let series = this.#series.get(labels);
    if (series === undefined) {
      series = { buckets: Array(DURATIONS.length + 1).fill(0), sum: 0 };
      this.#series.set(labels, series);
    }
    let index = 0;
    while (seconds > DURATIONS[index]) index++;
    series.buckets[index]++;
    series.sum += seconds;
  }

  *samples(): Iterable<Sample> {
    for (const [labels, { buckets, sum }] of this.#series) {
      let count = 0;
      for (const [index, size] of buckets.entries()) {
        count += size;
        yield [`_bucket{${labels}le="${DURATIONS[index] ?? "+Inf"}"}`, count];
      }
      yield [`_sum{${labels}}`, sum];
      yield [`_count{${labels}}`, count];
    }
  }
}

function labelsOf(attributes: Record<string, string> = {}): Labels {
  return Object.entries(attributes).map(([name, value]) => `${name}="${value}",`).join("");
}

/** As OpenTelemetry's collector translates the name of a metric. */
function nameOf(name: string): string {
  return `animal_store_${name.replaceAll(".", "_")}`;
}
