/** What a store may do to its clients, and how often: drawn anew for every seed, so that seeds differ in kind. */

import type { Random } from "./random.ts";

/** What becomes of a read. */
export type ReadFate = "answered" | "locked" | "failed" | "silent" | "slow";

/**
 * What becomes of a commit. Beside those of a read: `failedAfter` landed and reports failure,
 * `resent` landed and was sent again by the network's client, which then met itself, `silentAfter`
 * landed and never answers, `late` lands after its client gave up.
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
  /** The usual time of one way between a machine and the store, in milliseconds. */
  latencyMs: number;
  /** How often a way takes up to a hundred times as long. */
  tailProbability: number;
}

/** How long a commit of fate `late` is on its way, in milliseconds: around and beyond every limit of time. */
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

/** Each fault is in some seeds not at all, in some rare, in some frequent. */
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
