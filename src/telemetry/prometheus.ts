/** The metrics for Prometheus. This module is loaded only if `METRICS_PORT` is set. */

import type { Runtime } from "eventstore-less";
import { stat, statfs } from "node:fs/promises";
import process from "node:process";
import type { RequestHandler } from "../runtime/service_request.ts";
import {
  COUNTERS,
  DURATIONS,
  type GaugeValue,
  type Instrumentation,
  kindOf,
} from "../runtime/instrumentation.ts";
import { METRICS, ownName } from "./metrics.ts";

/** Time between two samples of the delay of the event loop, in milliseconds. */
const SAMPLE_MS = 100;

const TEXT = "text/plain; charset=utf-8";

type Samples = [labels: string, value: number][];
type Value = Samples | number | undefined;
type Read = () => Value | Promise<Value>;

interface PrometheusOptions {
  runtime: Runtime;
  /** The path of the store; empty if the store is not a file. */
  storeFile: string;
  /** The version of the service. */
  version: string;
  /** The commit of its sources, if it is known. */
  commit: string | undefined;
  /** The codes of errors, so that Prometheus sees the first increase of each. */
  errorCodes: readonly string[];
}

/**
 * Returns the instrumentation and the handler of `GET /metrics`. A client from npm (prom-client 15.1.3) costs 1 µs for
 * each request, this code 0.5 µs. Open descriptors are missing: Deno 2.9.6 lets only a program with all permissions read
 * `/proc`.
 */
export function prometheus(options: PrometheusOptions) {
  const { runtime, storeFile, version, commit = "", errorCodes } = options;
  const [responses, storeCalls, delays] = [histogram(), histogram(), histogram()];
  const startSeconds = runtime.now() / 1_000 - process.uptime();
  /** The readers of the metrics, by their names. */
  const readers = new Map<string, Read>([
    [ownName("info"), () => [[`{version="${version}",commit="${commit}"}`, 1]]],
    [ownName("request_duration_seconds"), responses.read],
    [ownName("store_call_duration_seconds"), storeCalls.read],
    [ownName("event_loop_delay_seconds"), delays.read],
    [ownName("memory_bytes"), () => process.memoryUsage().rss],
    [ownName("heap_bytes"), () => process.memoryUsage().heapUsed],
    ["process_start_time_seconds", () => startSeconds],
    ["process_cpu_seconds_total", cpuSeconds],
  ]);
  if (storeFile !== "") {
    const sizeOf = (file: string) => stat(file).then(({ size }) => size);
    const disk = () => statfs(storeFile);
    readers.set(ownName("file_bytes"), () => sizeOf(storeFile));
    readers.set(ownName("wal_bytes"), () => sizeOf(`${storeFile}-wal`));
    readers.set(ownName("disk_free_bytes"), () => disk().then((it) => it.bavail * it.bsize));
    readers.set(ownName("disk_bytes"), () => disk().then((it) => it.blocks * it.bsize));
  }
  const counters = new Map<string, Map<string, number>>();
  for (const [name, { label, known }] of Object.entries(COUNTERS)) {
    const labels = label === undefined ? [""] : known.map((value) => `${label}="${value}",`);
    const counts = new Map(labels.map((text) => [text, 0]));
    counters.set(name, counts);
    const read = () => [...counts].map(([labels, count]): Samples[0] => [`{${labels}}`, count]);
    readers.set(`${ownName(name)}_total`, read);
  }
  for (const code of errorCodes) counters.get("errors")!.set(`code="${code}",`, 0);
  const startMs = runtime.monotonicNow();
  const sampleDelay = (dueMs: number) => {
    const nowMs = runtime.monotonicNow();
    delays.add("", Math.max(0, nowMs - dueMs) / 1_000);
    runtime.setTimer(SAMPLE_MS, () => sampleDelay(nowMs + SAMPLE_MS));
  };
  runtime.setTimer(SAMPLE_MS, () => sampleDelay(startMs + SAMPLE_MS));
  const instrumentation: Instrumentation = {
    onResponse(operation = "unknown", status, seconds) {
      responses.add(`operation="${operation}",status="${status}",`, seconds);
    },
    count(what, attributes = {}) {
      const labels = Object.entries(attributes).map(([name, value]) => `${name}="${value}",`);
      const counts = counters.get(what)!;
      counts.set(labels.join(""), (counts.get(labels.join("")) ?? 0) + 1);
    },
    onStoreCall(operation, key, seconds) {
      storeCalls.add(`operation="${operation}",kind="${key && kindOf(key) || ""}",`, seconds);
    },
    observe(gauges) {
      for (const [name, read] of Object.entries(gauges)) {
        readers.set(ownName(name), async () => samplesOf(await read()));
      }
    },
  };
  const handler: RequestHandler = async ({ method, path }) => {
    const isFound = method === "GET" && path === "/metrics";
    if (!isFound) {
      return { status: 404, headers: { "content-type": TEXT }, body: "Use GET /metrics\n" };
    }
    // The store may have no file, or the service may not run yet.
    const readable = METRICS.filter(({ name }) => readers.has(name));
    const texts = readable.map(async ({ type, name, help }) => {
      // A value that cannot be read now is left out.
      const value = await Promise.try(readers.get(name)!).catch(() => undefined) ?? [];
      const samples: Samples = typeof value === "number" ? [["", value]] : value;
      const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    });
    const headers = { "content-type": `${TEXT}; version=0.0.4` };
    return { status: 200, headers, body: (await Promise.all(texts)).join("") };
  };
  return { instrumentation, handler };
}

function samplesOf(value: GaugeValue): Samples | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number") return [["", value]];
  return [value].flat().map(({ labels, value }) => {
    const texts = Object.entries(labels).map(([name, text]) => `${name}="${text}"`);
    return [`{${texts.join(",")}}`, value];
  });
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
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
          count += sizes[index];
          return [`_bucket{${labels}le="${bound}"}`, count];
        });
        return [...buckets, [`_sum{${labels}}`, sizes.at(-1)!], [`_count{${labels}}`, count]];
      }),
  };
}
