import { PROCESSES, testNeeding } from "./support/test_needing.ts";
import {
  checkWithoutAnimals,
  runWithoutAnimals,
  withoutAnimals,
} from "./support/without_animals.ts";

testNeeding(PROCESSES)("the engine and its commands work without animals, on files", async () => {
  await withoutAnimals(async (project) => {
    await checkWithoutAnimals(project);
    await runWithoutAnimals(project, ["one", "two"].map((name) => `${project}/${name}.sqlite3`));
  });
});
