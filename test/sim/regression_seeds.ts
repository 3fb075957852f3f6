/**
 * Every seed that ever found a fault of the service, and the fault. After a change of the workload, a seed
 * gives a different history. Therefore each fault also has a test or a mutant.
 */
export const REGRESSION_SEEDS: readonly { seed: number; found: string }[] = [
  {
    seed: 43,
    found: "A key revoked at once was taken by an instance whose clock was behind the revoker's",
  },
  {
    seed: 623,
    found: "An addition waited beyond its limit on an instance whose clock was set back meanwhile",
  },
  {
    seed: 571,
    found: "The store forgot an Idempotency-Key before the day was over by its reader's clock",
  },
  {
    seed: 4,
    found: "A revocation within an instance, on a head from before a replay, found no such key",
  },
  {
    seed: 1295,
    found:
      "Sixteen reads that were lost for good, ever, left an instance without its store for ever",
  },
  {
    seed: 563,
    found: "A list was answered in a way that the description did not know, at a shutdown",
  },
  {
    seed: 10725,
    found: "A node that stood still read on in a generation that a replay had removed meanwhile",
  },
];
