import { assertMatch } from "@std/assert";
import { cp, rm } from "node:fs/promises";
import { editFile } from "./edit_file.ts";
import { expectDeno, runDeno } from "./guide.ts";
import { WITH_TESTS, withProjectCopy } from "./with_project_copy.ts";

/** The parts of the service that know its subjects. */
const WITHOUT = [
  ...["api_key", "category", "pet", "pet_event"].map((name) => `events/${name}.ts`),
  ...["animals", "categories", "keys"].map((name) => `src/${name}`),
];

/** The commands that must not need them. `log` names API keys, for people. */
const COMMANDS = ["audit", "backup", "publish", "prove", "replay", "restore", "schema"];

const APPLICATION = `import { VISITS, type VisitEventBody } from "./visits/visits.ts";

export const NAME = "Vet Visits";
export const COLLECTIONS = [VISITS];
export type EventBody = VisitEventBody;
export type RefusalCode = never;
`;

/** Runs `use` with a copy of the project whose application has only the visits of `test/visits`. */
export async function withoutAnimals(use: (project: string) => Promise<void>): Promise<void> {
  await withProjectCopy(async (project) => {
    for (const path of WITHOUT) await rm(`${project}/${path}`, { recursive: true });
    await cp(`${project}/test/visits/visits.ts`, `${project}/src/visits/visits.ts`);
    await Deno.writeTextFile(`${project}/src/application.ts`, APPLICATION);
    await editFile(`${project}/deno.json`, [[',\n    "test/visits"', ""]]);
    await use(project);
  }, WITH_TESTS);
}

/** Checks the types of the engine, of the commands and of the suite. */
export async function checkWithoutAnimals(project: string): Promise<void> {
  const commands = COMMANDS.map((name) => `scripts/${name}/main.ts`);
  const suite = "test/visits/engine_suite.ts";
  await expectDeno(project, ["check", "src/eventstore_less", ...commands, suite]);
  for (const args of [["fmt", "--check", suite], ["lint", suite]]) await expectDeno(project, args);
}

/** Runs the suite on two empty stores with these names. */
export async function runWithoutAnimals(project: string, stores: string[]): Promise<void> {
  const args = ["test", "--allow-all", "--lock=test/deno.lock", "test/visits/engine_suite.ts"];
  const { output } = await runDeno(project, args, { STORES: stores.join(" ") });
  assertMatch(output, /\nok \| 1 passed \| 0 failed/, output);
}
