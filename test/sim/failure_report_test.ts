import { assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { failureReport } from "./failure_report.ts";
import { NO_FAULTS } from "./fault_profile.ts";
import { findKillingSeed } from "./find_killing_seed.ts";
import { MUTANTS } from "./mutants.ts";
import { simulate } from "./simulate.ts";
import { withMutant } from "./with_mutant.ts";

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

Deno.test({
  name: "failureReport() prints the fault profile of a seed that finds a mutant",
  ignore: !permitted("read", "write"),
  async fn() {
    const mutant = MUTANTS.find(({ name }) => name === "a commit does not check the head")!;
    const { seed, violation } = (await findKillingSeed(mutant))!;
    const report = failureReport(await withMutant(mutant, (code) => simulate(code, seed)));
    const [title, first, ...rest] = report.split("\n");
    assertEquals([title, first], [`Seed ${seed} failed`, `  ${violation}`]);
    assertMatch(rest.join("\n"), /^ {2}round 1, weights of commit faults: none 1/m);
    assertEquals(rest.at(-1), `To repeat it: deno task sim --seed ${seed} --trace`);
  },
});
