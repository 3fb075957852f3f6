/** The faults of a store and their frequency. Each seed draws profiles of its own, so that seeds differ. */

import type { Random } from "./random.ts";

/** The outcome of a read. */
export type ReadFate = "answered" | "locked" | "failed" | "silent" | "slow";

/**
 * The outcome of a commit. The additional ones:
 * - `failedAfter`: it is applied but reports failure.
 * - `resent`: it is applied, then the network client sends it again, and the second conflicts with the first.
 * - `resentLater`: like `resent`, but the second commit overtakes the first.
 * - `silentAfter`: it is applied but never answers.
 * - `late`: it arrives late, usually after its client has given up.
 * - `lateSilent`: like `late`, but it never answers.
 */
export type CommitFate =
  | ReadFate
  | "failedAfter"
  | "resent"
  | "resentLater"
  | "silentAfter"
  | "late"
  | "lateSilent";

export interface FaultProfile {
  read: Record<ReadFate, number>;
  commit: Record<CommitFate, number>;
  /** Usual one-way latency between a node and the store, in milliseconds. */
  latencyMs: number;
  /** Probability that a one-way latency is a hundred times as long. */
  tailProbability: number;
}

/**
 * Delay of a `late` commit, in milliseconds. It may be shorter or much longer than the time limits of the
 * service.
 */
export const LATE_MS = { low: 500, high: 15_000 };

export const CALM: FaultProfile = {
  read: { answered: 1, locked: 0, failed: 0, silent: 0, slow: 0 },
  commit: {
    answered: 1,
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
export function drawFaultProfile(random: Random): FaultProfile {
  const severity = random.pick([0, 0.5, 1, 1, 3]);
  const weight = () => severity * random.pick([0, 0, 0.002, 0.01, 0.04, 0.1]);
  return {
    read: {
      answered: 1,
      locked: weight(),
      failed: weight(),
      silent: weight() / 4,
      slow: weight(),
    },
    commit: {
      answered: 1,
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
