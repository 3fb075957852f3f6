/**
 * Lets Porcupine judge histories of real instances. The tests of an engine that is not installed are left out.
 *
 *     deno task test:judge
 */

import { assertEquals } from "@std/assert";
import { PATCHES } from "../sim/mutants.ts";
import { withMutatedProject } from "../sim/run_mutant.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { testNeeding } from "../support/test_needing.ts";
import { install } from "../support/third_party_tools.ts";
import { ENGINES, expectLinearizable, openFile } from "./engines.ts";
import { installChecker, judge } from "./judge.ts";

const KILLS = 2;

/** Enough for each mutant. */
const MUTANT_OPERATIONS = 1_500;

const MUTANT_NAMES = [
  "an instance does not follow the changes of others",
  "a removed pet comes back",
];

const PORCUPINE = await install("Porcupine", installChecker);
const test = testNeeding(PORCUPINE);

for (const [name, { needs, open }] of Object.entries(ENGINES)) {
  testNeeding(PORCUPINE, ...needs)(
    `Porcupine finds a history linearizable: ${name}`,
    () => expectLinearizable(name, open, KILLS),
  );
}

for (const name of MUTANT_NAMES) {
  test(`Porcupine finds a mutant: ${name}`, async () => {
    const patch = PATCHES.find((patch) => patch.name === name)!;
    await withMutatedProject(patch, async (project) => {
      const command = ["env", "-C", project, Deno.execPath(), "run", "--allow-all"];
      await using engine = await openFile((path) => ServiceProcess.start(path, {}, command));
      assertEquals((await judge(engine, 0, MUTANT_OPERATIONS)).verdict, "Illegal");
    });
  });
}
