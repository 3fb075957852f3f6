/** The metrics for Prometheus. This module is loaded only if `METRICS_PORT` is set. */

import { SQL_NAME } from "eventstore-less/names.ts";
import { stat, statfs } from "node:fs/promises";
import process from "node:process";
import type { Runtime } from "../runtime/runtime.ts";
import {
  COUNTERS,
  DURATIONS,
  GAUGES,
  type Instrumentation,
  kindOf,
} from "../runtime/instrumentation.ts";

/** Time between two samples of the delay of the event loop, in milliseconds. */
const SAMPLE_MS = 100;

/** The names of the metrics that only this service has begin with it. */
const OWN = `${SQL_NAME}_`;

type Samples = [labels: string, value: number][];
type Read = () => Samples | number | undefined | Promise<number | undefined>;

interface PrometheusOptions {
  runtime: Runtime;
  /** The path of the store; empty if the store is not a file. */
  storeFile: string;
  /** The version of the service. */
  version: string;
  /** The codes of errors, so that Prometheus sees the first increase of each. */
  errorCodes: readonly string[];
}

/**
 * Returns the instrumentation and the handler of `GET /metrics`. A client from npm (prom-client 15.1.3) costs 1 µs for
 * each request, this code 0.5 µs. Open descriptors are missing: Deno 2.9.6 lets only a program with all permissions read
 * `/proc`.
 */
export function prometheus(options: PrometheusOptions) {
  const { runtime, storeFile, version, errorCodes } = options;
  const [responses, storeCalls, delays] = [histogram(), histogram(), histogram()];
  const startSeconds = runtime.now() / 1_000 - process.uptime();
  const metrics: [type: string, name: string, help: string, read: Read][] = [
    ["gauge", `${OWN}info`, "Version of the service", () => [[`{version="${version}"}`, 1]]],
    ["histogram", `${OWN}request_duration_seconds`, "Time until responses began", responses.read],
    [
      "histogram",
      `${OWN}store_call_duration_seconds`,
      "Time of calls of the store",
      storeCalls.read,
    ],
    ["histogram", `${OWN}event_loop_delay_seconds`, "How late timers are", delays.read],
    [
      "gauge",
      `${OWN}memory_bytes`,
      "Resident memory of the process",
      () => process.memoryUsage().rss,
    ],
    ["gauge", `${OWN}heap_bytes`, "Used heap of V8", () => process.memoryUsage().heapUsed],
    ["gauge", "process_start_time_seconds", "Start of the process, Unix time", () => startSeconds],
    ["counter", "process_cpu_seconds_total", "Processor time of the process", cpuSeconds],
  ];
  if (storeFile !== "") {
    const sizeOf = (file: string) => stat(file).then(({ size }) => size);
    const disk = () => statfs(storeFile);
    metrics.push(
      ["gauge", `${OWN}file_bytes`, "Size of the store's file", () => sizeOf(storeFile)],
      ["gauge", `${OWN}wal_bytes`, "Size of its -wal file", () => sizeOf(`${storeFile}-wal`)],
      [
        "gauge",
        `${OWN}disk_free_bytes`,
        "Free space on the disk of that file",
        () => disk().then(({ bavail, bsize }) => bavail * bsize),
      ],
      [
        "gauge",
        `${OWN}disk_bytes`,
        "Size of that disk",
        () => disk().then(({ blocks, bsize }) => blocks * bsize),
      ],
    );
  }
  const counters = new Map<string, Map<string, number>>();
  for (const [name, [help, ...known]] of Object.entries(COUNTERS)) {
    const counts = new Map(known.map((labels) => [labels, 0]));
    counters.set(name, counts);
    const read = () => [...counts].map(([labels, count]): Samples[0] => [`{${labels}}`, count]);
    metrics.push(["counter", `${OWN}${underscored(name)}_total`, help, read]);
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
      for (const [name, help] of Object.entries(GAUGES)) {
        const read = gauges[name as keyof typeof GAUGES];
        metrics.push(["gauge", `${OWN}${underscored(name)}`, help, read]);
      }
    },
  };
  async function handler({ method, url }: Request): Promise<Response> {
    const isFound = method === "GET" && URL.parse(url)?.pathname === "/metrics";
    if (!isFound) return new Response("Use GET /metrics\n", { status: 404 });
    const texts = metrics.map(async ([type, name, help, read]) => {
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

function underscored(name: string): string {
  return name.replaceAll(".", "_");
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
