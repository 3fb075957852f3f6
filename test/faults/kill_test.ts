import { assertGreater } from "@std/assert";
import { IS_ON_NODE } from "../support/programs.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { killRounds } from "./kill_rounds.ts";

const test = testNeeding(PROCESSES);

test("pets, changes and removals are stored once after kill -9 of services and commands, and repeated requests", async () => {
  const { load } = await killRounds(6, IS_ON_NODE ? ["deno", "node"] : undefined);
  assertGreater(load.acknowledged.size, 0);
  assertGreater(load.changes.size, 0);
  assertGreater(load.removed.size, 0);
  // A client gave up on a request that had added its pet.
  assertGreater(load.outcomes.repeated ?? 0, 0);
});
