import {
  type Instrumentation as OfEngine,
  NO_INSTRUMENTATION as NONE_OF_ENGINE,
} from "eventstore-less";
import { defectOf } from "eventstore-less/startup";
import type { Logger } from "./logger.ts";

/**
 * The port for measurements of an instance. Every request calls it, so no method may wait; an error that one throws is
 * a defect.
 */
export interface Instrumentation extends OfEngine {
  /** The response of a request, or its stream, began so many seconds after the request. Without it, none is timed. */
  onResponse?(operation: string | undefined, status: number, seconds: number): void;
  count(what: Counter, attributes?: Record<string, string>): void;
  /** Registers values that are read from time to time. */
  observe(gauges: Gauges): void;
}

/** The counters by their names. */
export const COUNTERS = {
  "events.appended": counter("Events that this instance appended, by type", "type"),
  "commit.conflicts": counter("Commits that lost to one of another instance"),
  "commit.unclear": counter("Commits without a clear outcome, which the log then told"),
  "credentials.refused": counter("Responses 401", "reason", ["missing", "invalid"]),
  "webhooks.attempts": counter(
    "Attempts to deliver an event to an endpoint, by outcome",
    "outcome",
    ["confirmed", "refused", "failed"],
  ),
  "errors": counter("Responses with an error, by its code", "code"),
};
export type Counter = keyof typeof COUNTERS;

/** `known` are the values of the label from the start, so that Prometheus sees the first increase of each. */
function counter(help: string, label?: string, known: string[] = []) {
  return { help, label, known };
}

/** The name of each gauge, which ends in its unit if it has one, and its description. */
export const GAUGES = {
  "followers": "Streams of events, and waits for events",
  "queue.length": "Commands that wait for a commit",
  "head.position": "Position of the newest event that this instance knows of",
  "event.age.seconds": "Time since the newest event that this instance knows of",
  "index.fill.seconds": "Time that the last fill of the index of categories took",
  "ready": "Whether /readyz gets 200",
  "key.expiry.time.seconds": "Unix time when the first live key without a successor expires",
  "consumer.position": "Position of the last event that a consumer has handled or passed",
  "consumer.lag": "Number of events that a consumer has still to handle or pass",
  "consumer.failing.seconds":
    "Time since a consumer first failed at its next event, 0 if it did not",
  "consumer.stopped": "Whether a consumer waits for an operator to name its place",
  "webhooks.disabled": "Number of webhooks that are disabled",
  "storage.full": "Whether commits fail because the disk is full",
  "commits.replicated": "Whether commits wait for a standby, if the store has several servers",
};

/**
 * A value with the thing that it measures, for example the key that expires. Labels contain no quotes, backslashes and
 * line feeds.
 */
export interface LabelledValue {
  labels: Record<string, string>;
  value: number;
}

export type GaugeValue = number | LabelledValue | LabelledValue[] | undefined;

/** The functions that read the gauges. A value is left out while it is not known. */
export type Gauges = Record<keyof typeof GAUGES, () => GaugeValue | Promise<GaugeValue>>;

/** The bounds of the buckets of durations, in seconds. */
export const DURATIONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** Returns only the kind of the records, because the rest of a key may contain the hash of a token. */
export function kindOf(key: readonly unknown[]): string | undefined {
  const kind = key[0] === "projection" ? key[2] : key[0];
  return kind === undefined ? undefined : String(kind);
}

export const NO_INSTRUMENTATION: Instrumentation = { ...NONE_OF_ENGINE, observe() {} };

/** Keeps errors of an instrumentation from its callers, and logs them as defects. */
export function shielded(inner: Instrumentation, report: Logger): Instrumentation {
  const shield = <Args extends unknown[]>(call: (...args: Args) => void) => (...args: Args) => {
    try {
      call(...args);
    } catch (error) {
      report("error", "telemetry_failed", defectOf(error));
    }
  };
  return {
    onResponse: inner.onResponse && shield(inner.onResponse),
    count: shield(inner.count),
    onStoreCall: shield(inner.onStoreCall),
    observe: shield(inner.observe),
  };
}
