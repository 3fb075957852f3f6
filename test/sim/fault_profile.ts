/** The faults that a seed injects and their frequency. Each seed draws profiles of its own, so that seeds differ. */

import type { Random } from "./random.ts";

/** The faults of one phase of a simulation. */
export interface FaultProfile {
  /** The phase: a round of the workload, or the restore at the end. */
  phase: string;
  store: StoreFaultProfile;
  /** Absent if only the store has faults. */
  cluster?: ClusterFaultProfile;
}

/** Faults of single store calls. The records hold weights; the weight of `none` is 1. */
export interface StoreFaultProfile {
  read: Record<ReadFault, number>;
  commit: Record<CommitFault, number>;
  /** Usual one-way latency between a node and the store, in milliseconds. */
  latencyMs: number;
  /** Probability that a one-way latency is a hundred times as long. */
  tailProbability: number;
}

/** `silent`: the call is lost and gets no response. */
export type ReadFault = "none" | "locked" | "failed" | "silent" | "slow";

/**
 * The additional faults of a commit:
 * - `failedAfter`: it is applied but reports failure.
 * - `resent`: it is applied, then the network client sends it again, and the second conflicts with the first.
 * - `resentLater`: like `resent`, but the second commit overtakes the first.
 * - `silentAfter`: it is applied but gets no response.
 * - `late`: it arrives late, usually after its client has given up.
 * - `lateSilent`: like `late`, but it gets no response.
 */
export type CommitFault =
  | ReadFault
  | "failedAfter"
  | "resent"
  | "resentLater"
  | "silentAfter"
  | "late"
  | "lateSilent";

/** Faults of whole nodes and of the whole store, one after another. */
export interface ClusterFaultProfile {
  weights: Record<ClusterFault, number>;
  /** Mean time between two faults, in milliseconds. */
  intervalMs: number;
}

/**
 * `kill` is a power failure, `stop` a shutdown. In an `outage`, the store answers no calls. After `lockOut`, the commits
 * of a node meet a lock until it connects to the store again, as on a replaced primary.
 */
export type ClusterFault =
  | "none"
  | "kill"
  | "stop"
  | "pause"
  | "clockJump"
  | "outage"
  | "lockOut";

/**
 * Delay of a `late` commit, in milliseconds. It may be shorter or much longer than the time limits of the
 * service.
 */
export const LATE_MS = { low: 500, high: 15_000 };

export const NO_FAULTS: StoreFaultProfile = {
  read: { none: 1, locked: 0, failed: 0, silent: 0, slow: 0 },
  commit: {
    none: 1,
    locked: 0,
    failed: 0,
    silent: 0,
    slow: 0,
    failedAfter: 0,
    resent: 0,
    resentLater: 0,
    silentAfter: 0,
    late: 0,
    lateSilent: 0,
  },
  latencyMs: 1,
  tailProbability: 0,
};

/** Draws a profile. A given fault is absent in some seeds, rare in others and frequent in others. */
export function drawStoreFaultProfile(random: Random): StoreFaultProfile {
  const severity = random.pick([0, 0.5, 1, 1, 3]);
  const weight = () => severity * random.pick([0, 0, 0.002, 0.01, 0.04, 0.1]);
  return {
    read: {
      none: 1,
      locked: weight(),
      failed: weight(),
      silent: weight() / 4,
      slow: weight(),
    },
    commit: {
      none: 1,
      locked: weight(),
      failed: weight(),
      silent: weight() / 2,
      slow: weight(),
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

export function drawClusterFaultProfile(random: Random): ClusterFaultProfile {
  const weights = {
    none: 1,
    kill: random.pick([0, 1, 3]),
    stop: random.pick([0, 1]),
    pause: random.pick([0, 1, 2]),
    clockJump: random.pick([0, 1, 1]),
    outage: random.pick([0, 1, 2]),
    lockOut: random.pick([0, 0, 1]),
  };
  return { weights, intervalMs: random.pick([300, 2_000, 10_000]) };
}

/** The profile as lines of text. */
export function describeFaultProfile({ phase, store, cluster }: FaultProfile): string[] {
  const { latencyMs, tailProbability } = store;
  return [
    `${phase}, store latency: ${latencyMs} ms; 100 times that with probability ${tailProbability}`,
    `${phase}, weights of read faults: ${weightsText(store.read)}`,
    `${phase}, weights of commit faults: ${weightsText(store.commit)}`,
    cluster === undefined
      ? `${phase}, cluster faults: none`
      : `${phase}, weights of cluster faults, one every ${cluster.intervalMs} ms: ` +
        weightsText(cluster.weights),
  ];
}

function weightsText(weights: Record<string, number>): string {
  return Object.entries(weights).filter(([, weight]) => weight > 0)
    .map(([fault, weight]) => `${fault} ${Number(weight.toFixed(5))}`).join(", ");
}
