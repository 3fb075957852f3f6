import { assertGreater } from "@std/assert";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { ON_NODE } from "../support/programs.ts";
import { killRounds } from "./kill_rounds.ts";

const test = testNeeding(PROCESSES);

test("pets, changes and removals are stored once after kill -9 of services and commands, and repeated requests", async () => {
  const { load } = await killRounds(6);
  assertGreater(load.acknowledged.size, 0);
  assertGreater(load.changes.size, 0);
  assertGreater(load.removed.size, 0);
  // A client gave up on a request that had added its pet.
  assertGreater(load.outcomes.repeated ?? 0, 0);
});

testNeeding(PROCESSES, ON_NODE)(
  "pets, changes and removals are stored once after kill -9 of services on Deno and Node that share a file",
  async () => {
    const { load, killed } = await killRounds(8, ["deno", "node"]);
    assertGreater(load.acknowledged.size, 0);
    assertGreater(killed, 0);
  },
);
