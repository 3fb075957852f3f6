import { assertEquals } from "@std/assert";
import { failureReport } from "./failure_report.ts";
import { NO_FAULTS } from "./fault_profile.ts";

Deno.test("failureReport() prints violations, the fault profile and the command that repeats the seed", () => {
  const report = failureReport({
    seed: 12,
    violations: ["Pet 2 was added 2 times"],
    instances: 3,
    faultProfiles: [
      {
        phase: "round 1",
        store: {
          read: { ...NO_FAULTS.read, locked: 0.02 },
          commit: { ...NO_FAULTS.commit, resent: 0.1, lateSilent: 0.0025 },
          latencyMs: 5,
          tailProbability: 0.01,
        },
        cluster: {
          weights: { none: 1, kill: 3, stop: 0, pause: 1, clockJump: 0, outage: 0, lockOut: 0 },
          intervalMs: 300,
        },
      },
      { phase: "restore", store: NO_FAULTS },
    ],
    digest: "",
    requests: 0,
    acknowledged: 0,
    events: 0,
    steps: 0,
  });
  assertEquals(
    report,
    `Seed 12 failed
  Pet 2 was added 2 times
  instances: 3
  round 1, store latency: 5 ms; 100 times that with probability 0.01
  round 1, weights of read faults: none 1, locked 0.02
  round 1, weights of commit faults: none 1, resent 0.1, lateSilent 0.0025
  round 1, weights of cluster faults, one every 300 ms: none 1, kill 3, pause 1
  restore, store latency: 1 ms; 100 times that with probability 0
  restore, weights of read faults: none 1
  restore, weights of commit faults: none 1
  restore, cluster faults: none
To repeat it: deno task sim --seed 12 --trace`,
  );
});
