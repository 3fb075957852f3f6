/** The table of metrics, from which `/metrics` and the dashboard for Grafana are made. */

import { APPLICATION } from "../application.ts";
import { COUNTERS, GAUGES } from "../runtime/instrumentation.ts";

export interface Metric {
  type: "counter" | "gauge" | "histogram";
  /** Ends in the unit, if there is one; for a counter, `_total` follows. */
  name: string;
  help: string;
  /** The label by which people tell its series apart: its first one, or the one that Prometheus adds. */
  label: string;
}

/** The name in Prometheus of a metric that only this service has. */
export function ownName(name: string): string {
  return `${APPLICATION.sqlName}_${name.replaceAll(".", "_")}`;
}

export function gauge(name: string, help: string, label = "instance"): Metric {
  return { type: "gauge", name, help, label };
}

function histogram(name: string, help: string, label = "instance"): Metric {
  return { type: "histogram", name: ownName(name), help, label };
}

function labelOf(gauge: string): string | undefined {
  return gauge.startsWith("consumer.") ? "consumer" : undefined;
}

export const METRICS: readonly Metric[] = [
  ...Object.entries(GAUGES).map(([name, help]) => gauge(ownName(name), help, labelOf(name))),
  ...Object.entries(COUNTERS).map(([name, { help, label }]): Metric => (
    { type: "counter", name: `${ownName(name)}_total`, help, label: label ?? "instance" }
  )),
  histogram("request_duration_seconds", "Time until responses began", "operation"),
  histogram("store_call_duration_seconds", "Time of calls of the store", "operation"),
  histogram("event_loop_delay_seconds", "How late timers are"),
  gauge(ownName("info"), "Version of the service, and its commit", "version"),
  gauge("process_start_time_seconds", "Start of the process, Unix time"),
  {
    type: "counter",
    name: "process_cpu_seconds_total",
    help: "Processor time of the process",
    label: "instance",
  },
  gauge(ownName("memory_bytes"), "Resident memory of the process"),
  gauge(ownName("heap_bytes"), "Used heap of V8"),
  gauge(ownName("file_bytes"), "Size of the store's file"),
  gauge(ownName("wal_bytes"), "Size of its -wal file"),
  gauge(ownName("disk_free_bytes"), "Free space on the disk of that file"),
  gauge(ownName("disk_bytes"), "Size of that disk"),
];
