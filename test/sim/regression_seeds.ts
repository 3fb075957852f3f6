/**
 * Every seed that ever found a fault of the service, and the fault. A seed repeats its fault only with the
 * simulator of that time: any change of the workload, of the fault profiles or of the shutdown gives the seed a
 * different history. Therefore each fault also has a test or a mutant.
 */
export const REGRESSION_SEEDS: readonly { seed: number; found: string }[] = [
  {
    seed: 43,
    found: "An instance accepted a key after its immediate revocation because its clock was behind",
  },
  {
    seed: 623,
    found: "A create waited longer than its limit on an instance whose clock was set back",
  },
  {
    seed: 571,
    found: "The store removed an idempotency record before its day was over by the reader's clock",
  },
  {
    seed: 4,
    found: "A revocation within an instance, on a head from before a replay, did not find the key",
  },
  {
    seed: 1295,
    found:
      "An instance never recovered its store after sixteen probes were lost without a response",
  },
  {
    seed: 563,
    found: "The response to a list during a shutdown was not described by the OpenAPI document",
  },
  {
    seed: 10725,
    found: "A node that paused read from a generation that a replay had removed meanwhile",
  },
  {
    seed: 1796,
    found: "A slow read of a key extended its validity on an instance whose clock was set back",
  },
];
