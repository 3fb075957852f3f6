/** The metrics for Prometheus. This module is loaded only if `METRICS_PORT` is set. */

import { stat, statfs } from "node:fs/promises";
import { memoryUsage } from "node:process";
import type { Runtime } from "../runtime/runtime.ts";
import { COUNTERS, DURATIONS, GAUGES, type Instrumentation, kindOf } from "./instrumentation.ts";

/** Time between two samples of the delay of the event loop, in milliseconds. */
const SAMPLE_MS = 100;

type Samples = [labels: string, value: number][];
type Read = () => Samples | number | undefined | Promise<number | undefined>;

/**
 * Returns the instrumentation, which also calls `next`, and the handler of `GET /metrics`. `storeFile` is empty if the
 * store is not a file. A client from npm (prom-client 15.1.3) costs 1 µs for each request, this code 0.5 µs.
 */
export function prometheus(runtime: Runtime, storeFile: string, next: Instrumentation) {
  const [responses, storeCalls, delays] = [histogram(), histogram(), histogram()];
  const freeSpace = () => statfs(storeFile).then(({ bavail, bsize }) => bavail * bsize);
  const metrics: [type: string, name: string, help: string, read: Read][] = [
    ["histogram", "request_duration_seconds", "Time until responses began", responses.read],
    ["histogram", "store_call_duration_seconds", "Time of calls of the store", storeCalls.read],
    ["histogram", "event_loop_delay_seconds", "How late timers are", delays.read],
    ["gauge", "memory_bytes", "Resident memory of the process", () => memoryUsage().rss],
    ["gauge", "heap_bytes", "Used heap of V8", () => memoryUsage().heapUsed],
    [
      "gauge",
      "file_bytes",
      "Size of the store's file",
      () => stat(storeFile).then((it) => it.size),
    ],
    ["gauge", "disk_free_bytes", "Free space on the disk of that file", freeSpace],
  ];
  const counters = new Map<string, Map<string, number>>();
  for (const [name, [, help, ...known]] of Object.entries(COUNTERS)) {
    const counts = new Map(known.map((labels) => [labels, 0]));
    counters.set(name, counts);
    const read = () => [...counts].map(([labels, count]): Samples[0] => [`{${labels}}`, count]);
    metrics.push(["counter", `${name}_total`, help, read]);
  }
  const startMs = runtime.monotonicNow();
  const sampleDelay = (dueMs: number) => {
    const nowMs = runtime.monotonicNow();
    delays.add("", Math.max(0, nowMs - dueMs) / 1_000);
    runtime.setTimer(SAMPLE_MS, () => sampleDelay(nowMs + SAMPLE_MS));
  };
  runtime.setTimer(SAMPLE_MS, () => sampleDelay(startMs + SAMPLE_MS));
  const instrumentation: Instrumentation = {
    ...next,
    onResponse(operation = "unknown", status, seconds) {
      responses.add(`operation="${operation}",status="${status}",`, seconds);
    },
    count(what, attributes = {}) {
      next.count(what, attributes);
      const labels = Object.entries(attributes).map(([name, value]) => `${name}="${value}",`);
      const counts = counters.get(what)!;
      counts.set(labels.join(""), (counts.get(labels.join("")) ?? 0) + 1);
    },
    onStoreCall(operation, key, seconds) {
      next.onStoreCall(operation, key, seconds);
      storeCalls.add(`operation="${operation}",kind="${key && kindOf(key) || ""}",`, seconds);
    },
    observe(gauges) {
      next.observe(gauges);
      for (const [name, [unit, help]] of Object.entries(GAUGES)) {
        const seconds = unit === "s" ? "_seconds" : "";
        metrics.push(["gauge", name + seconds, help, gauges[name as keyof typeof GAUGES]]);
      }
    },
  };
  async function handler({ method, url }: Request): Promise<Response> {
    const isFound = method === "GET" && URL.parse(url)?.pathname === "/metrics";
    if (!isFound) return new Response("Use GET /metrics\n", { status: 404 });
    const texts = metrics.map(async ([type, metric, help, read]) => {
      const name = `animal_store_${metric.replaceAll(".", "_")}`;
      // A value that cannot be read now is left out.
      const value = await Promise.try(read).catch(() => undefined) ?? [];
      const samples: Samples = typeof value === "number" ? [["", value]] : value;
      const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    });
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response((await Promise.all(texts)).join(""), { headers });
  }
  return { instrumentation, handler };
}

function histogram() {
  /** The sizes of the buckets, then the sum of the seconds, by labels as in the text, each with a comma after it. */
  const series = new Map<string, number[]>();
  return {
    add(labels: string, seconds: number): void {
      const sizes = series.get(labels) ?? [...DURATIONS, 0, 0].fill(0);
      series.set(labels, sizes);
      let bucket = 0;
      while (seconds > DURATIONS[bucket]) bucket++;
      sizes[bucket]++;
      sizes[DURATIONS.length + 1] += seconds;
    },
    read: () =>
      [...series].flatMap(([labels, sizes]): Samples => {
        let count = 0;
        const buckets = [...DURATIONS, "+Inf"].map((bound, index): Samples[0] => {
          return [`_bucket{${labels}le="${bound}"}`, count += sizes[index]];
        });
        return [...buckets, [`_sum{${labels}}`, sizes.at(-1)!], [`_count{${labels}}`, count]];
      }),
  };
}
