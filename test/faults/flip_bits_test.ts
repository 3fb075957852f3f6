import { assertEquals } from "@std/assert";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { type Case, describeCases, faultsOf, probeDamages } from "./flip_bits.ts";

const test = testNeeding(PROCESSES);

const PETS = 60;
const SEED = 1;

/** The faults of all cases; each must be none. */
function allFaults(cases: Case[]): string[] {
  return cases.flatMap((it) => Object.keys(faultsOf(it)));
}

test("a service on a sound copy of a file answers everything right, and audit and replay end well", async () => {
  const cases = await probeDamages({ kind: "none", count: 1, pets: PETS, seed: SEED });
  const [{ probe }] = cases;
  if (typeof probe === "string") throw new Error(probe);
  const { isReady, wrong, failed, audit, replay } = probe;
  assertEquals({ isReady, wrong, failed, audit, replay }, {
    isReady: true,
    wrong: {},
    failed: 0,
    audit: "sound",
    replay: "done",
  });
});

test("40 flipped bits give no wrong answer while the service is ready, and every command ends", async () => {
  const cases = await probeDamages({ kind: "flip", count: 40, pets: PETS, seed: SEED });
  assertEquals(allFaults(cases), [], describeCases(cases));
});
