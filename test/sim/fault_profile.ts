/** The faults that a seed injects and their frequency. Each seed draws profiles of its own, so that seeds differ. */

import type { Random } from "./random.ts";

export interface FaultProfile {
  /** The phase: a round of the workload, or the restore at the end. */
  phase: string;
  store: StoreFaultProfile;
  /** Absent if only the store has faults. */
  cluster?: ClusterFaultProfile;
}

/** Faults of single store calls, with their weights. */
export interface StoreFaultProfile {
  read: Partial<Record<ReadFault, number>>;
  commit: Partial<Record<CallFault, number>>;
  /** Usual one-way latency between a node and the store, in milliseconds. */
  latencyMs: number;
  /** Probability that a one-way latency is a hundred times as long. */
  tailProbability: number;
}

/** The outcome of a call; {@linkcode StoreClient} says it exactly. */
type ReadFault = "none" | "locked" | "failed" | "silent" | "slow";
export type CallFault =
  | ReadFault
  | ("failedAfter" | "resent" | "resentLater" | "silentAfter" | "late" | "lateSilent");

/** Delay of a `late` commit, in milliseconds: shorter or much longer than the time limits of the service. */
export const LATE_MS = { low: 500, high: 15_000 };

export const NO_FAULTS: StoreFaultProfile = {
  read: { none: 1 },
  commit: { none: 1 },
  latencyMs: 1,
  tailProbability: 0,
};

/** Draws a profile. A given fault is absent in some seeds, rare in others and frequent in others. */
export function drawStoreFaultProfile(random: Random): StoreFaultProfile {
  const severity = random.pick([0, 0.5, 1, 1, 3]);
  const weight = () => severity * random.pick([0, 0, 0.002, 0.01, 0.04, 0.1]);
  const calls = () => ({
    none: 1,
    locked: weight(),
    failed: weight(),
    silent: weight() / 4,
    slow: weight(),
  });
  return {
    read: calls(),
    commit: {
      ...calls(),
      failedAfter: weight(),
      resent: weight(),
      resentLater: weight(),
      silentAfter: weight() / 2,
      late: weight() / 2,
      lateSilent: weight() / 2,
    },
    latencyMs: random.pick([0.1, 1, 1, 5, 20]),
    tailProbability: random.pick([0, 0.01, 0.05, 0.2]),
  };
}

/** Faults of whole nodes and of the whole store, one after another. */
export type ClusterFaultProfile = ReturnType<typeof drawClusterFaultProfile>;

/**
 * `kill` is a power failure, `stop` a shutdown. In an `outage`, the store answers no calls. `dayJump` sets a clock a day
 * or more off, and back soon. `lostRecord` removes the record of an Idempotency-Key.
 */
export function drawClusterFaultProfile(random: Random) {
  const weights = {
    none: 1,
    kill: random.pick([0, 1, 3]),
    stop: random.pick([0, 1]),
    pause: random.pick([0, 1, 2]),
    clockJump: random.pick([0, 1, 1]),
    outage: random.pick([0, 1, 2]),
    dayJump: random.pick([0, 0, 1]),
    lostRecord: random.pick([0, 0, 0, 1]),
  };
  const meanIntervalMs = random.pick([300, 2_000, 10_000]);
  return { weights, meanIntervalMs };
}
