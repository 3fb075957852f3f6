/**
 * Follows the guides for changes of the code (src/README.md and src/http/README.md) in a copy of the project. As a program,
 * it makes such a copy in a folder, for the tests that need permissions:
 *
 *     deno run --allow-all test/guides/follow_guides.ts FOLDER
 *
 * The examples have other names than in the guides, so that they also fit a project in which somebody has followed these.
 */

import { cp, glob, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { VERSION } from "../../src/settings/version.ts";
import { addFields } from "../support/add_fields.ts";
import { editFile, type TextEdit } from "../support/edit_file.ts";
import { codeOfGuide, commandsOfGuide, expectDeno } from "../support/guide.ts";
import { ROOT, WITH_TESTS } from "../support/with_project_copy.ts";

const VISITS = `${ROOT}test/visits/`;

/** The names of the examples, and the other ones. */
const OTHER_NAMES: [RegExp, string][] = [
  [/birthDate/g, "hatchDate"],
  [/reservedBy/g, "heldBy"],
  [/PetReserved/g, "PetHeld"],
  [/count_pets/g, "tally_pets"],
  [/countPets/g, "tallyPets"],
  [/PetCount\b/g, "PetTally"],
  [/PET_COUNT\b/g, "PET_TALLY"],
  [/\/count\b/g, "/tally"],
  [/visitor/g, "guest"],
  [/VISIT/g, "WALK"],
  [/Visit/g, "Walk"],
  [/visit/g, "walk"],
];

function withOtherNames(text: string): string {
  return OTHER_NAMES.reduce((renamed, [name, other]) => renamed.replaceAll(name, other), text);
}

const GUIDES = ["Add an operation", "Add a field", "Add a kind of subjects"];

const FIELD_OF_EVENT = `heldBy: {
  schema: text(100, "Who has reserved the animal").optional(),
  release: "90.1",
  setBy: "events",
  isPersonal: true,
},`;

const FIELD_OF_EVENT_IN_WINDOW = `heldBy: fieldOf<string | undefined>({
  name: "heldBy",
  label: "Reserved by",
  isReadOnly: true,
  textOf: (value) => value ?? "",
  parse: (text) => sound(text),
}),`;

const DATA = 'PetChange.extend({ until: z.iso.date().meta({ description: "The last day" }) })';

const TEST_OF_OPERATION = `import { assertEquals } from "@std/assert";
import { openTestService } from "../support/test_service.ts";

Deno.test("tallyPets counts the animals, and refuses a parameter", async () => {
  await using service = await openTestService();
  for (const name of ["Rex", "Max"]) await service.add({ name, categoryId: 7 });
  assertEquals(await (await service.send("/v1/tally")).json(), { animals: 2 });
  assertEquals((await service.send("/v1/tally?of=dogs")).status, 400);
});
`;

const ROWS_OF_FIELDS = `| \`hatchDate\` | date | optional | if set | when the animal was born |
| \`heldBy\` | string | – | if set | who has reserved the animal |
`;

const ROWS_OF_OPERATIONS = `| 4.90 | \`listWalks\` | \`GET /walks\` | see the description |
| 4.91 | \`bookWalk\` | \`POST /walks\` | see the description |
| 4.92 | \`tallyPets\` | \`GET /tally\` | see the description |
`;

/** An event of each type for the sample log, in place of others. */
const SAMPLES = `} else if (position === 95) {
      body = { type: "WalkBooked", data: { id: 1, day: "2026-12-01", guest: "Ann" } };
    } else if (position === 97) {
      index = pets.length - 1;
      const before = pets[index]!;
      const after = pets[index] = { ...before, heldBy: "Ann" };
      const previous = formerValuesOf(before, after);
      body = { type: "PetHeld", data: { ...after, previous, until: "2026-12-24" } };
    } else if (position % CHANGE_EVERY === 0) {`;

async function codeOf(title: string): Promise<string[]> {
  return (await codeOfGuide(title)).map(withOtherNames);
}

/** The arguments of Deno in the commands of all guides. */
export async function commandsOfGuides(): Promise<string[][]> {
  const commands = (await Promise.all(GUIDES.map(commandsOfGuide))).flat();
  return commands.map((args) => args.map(withOtherNames));
}

function editIn(project: string, file: string, ...edits: TextEdit[]): Promise<void> {
  return editFile(`${project}/${file}`, edits);
}

/** Adds the operation, the kind, the fields and the event. The compiler then asks for entries. */
export async function addDefinitions(project: string): Promise<void> {
  const [field] = await codeOf("Add a field");
  const [type] = await codeOf("Add an event");
  await addOperation(project);
  await addKind(project);
  await addFields(project, field.replace('"6.1"', '"90.1"') + FIELD_OF_EVENT);
  const typeWithData = type.trim().replace("PetChange", DATA);
  await editIn(
    project,
    "events/pet_event.ts",
    ['import type { z } from "zod";', 'import { z } from "zod";'],
    ["  PetRestored: Pet,\n", `  PetRestored: Pet,\n  ${typeWithData}\n`],
  );
}

/** Adds what the compiler has asked for. Tests then ask for texts. */
export async function addEntries(project: string): Promise<void> {
  const [, fieldOfWindow] = await codeOf("Add a field");
  const [, entryOfType] = await codeOf("Add an event");
  const entry = entryOfType.replace('"6.1"', '"90.1"');
  await editIn(project, "src/animals/pets.ts", ["  PetRemoved: {\n", `${entry}  PetRemoved: {\n`]);
  const kind = '  PetRemoved: "removed",\n';
  await editIn(project, "src/window/data/events.ts", [kind, `${kind}  PetHeld: "changed",\n`]);
  const added = `  note,\n${fieldOfWindow}\n${FIELD_OF_EVENT_IN_WINDOW}\n};`;
  await editIn(project, "src/window/data/fields.ts", ["  note,\n};", added]);
  await expectDeno(project, ["fmt", "-q"]);
}

/** Adds what tests have asked for, but for what the commands of the guides write. */
export async function addTexts(project: string): Promise<void> {
  await editIn(project, "src/settings/version.ts", [VERSION, "90.1.0"]);
  const changes = "## 90.1.0\n\n**Operators**: walks.\n\n**Callers**: walks.\n\n";
  await editIn(project, "scripts/changelog.md", [`## ${VERSION}\n`, `${changes}## ${VERSION}\n`]);
  const manual = await Deno.readTextFile(`${project}/src/http/README.md`);
  const [firstOperation] = /\n\| 4\.1 .*\n/.exec(manual)!;
  const afterFields = "\n(1) A client does not send it.";
  await editIn(
    project,
    "src/http/README.md",
    [firstOperation, firstOperation + ROWS_OF_OPERATIONS],
    [afterFields, ROWS_OF_FIELDS + afterFields],
    ["`PetRemoved`, `PetRestored` ", "`PetRemoved`, `PetRestored`, `PetHeld` "],
  );
  await editIn(
    project,
    "src/http/docs/guides.md",
    ['"PetRestored"]', '"PetRestored", "PetHeld"]'],
  );
  const change = "} else if (position % CHANGE_EVERY === 0) {";
  await editIn(project, "test/support/sample_log.ts", [change, SAMPLES]);
  await expectDeno(project, ["fmt", "-q"]);
}

async function addOperation(project: string): Promise<void> {
  const [operation] = await codeOf("Add an operation");
  await Deno.writeTextFile(`${project}/src/animals/tally_pets.ts`, operation);
  await Deno.writeTextFile(`${project}/test/animals/tally_pets_test.ts`, TEST_OF_OPERATION);
  await editFile(`${project}/src/animals/pet_operations.ts`, [
    ["import { createPet", 'import { tallyPets } from "./tally_pets.ts";\nimport { createPet'],
    ["  listPetEvents,\n", "  listPetEvents,\n  tallyPets,\n"],
  ]);
}

/** Adds the folder of the kind, and three lines with their imports. */
async function addKind(project: string): Promise<void> {
  for await (const path of glob("**/*.ts", { cwd: VISITS })) {
    const file = `${project}/${withOtherNames(path)}`;
    await mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, withOtherNames(await Deno.readTextFile(VISITS + path)));
  }
  await editFile(`${project}/src/walks/walks.ts`, [['release: "6.1"', 'release: "90.1"']]);
  const lastImport = 'import { API_KEYS } from "./keys/api_keys.ts";\n';
  const added = 'import { WALKS } from "./walks/walks.ts";\n';
  await editFile(`${project}/src/application.ts`, [
    [lastImport, lastImport + added],
    ["collections: [", "collections: [WALKS, "],
  ]);
  const lastBody = 'import type { PetEventBody } from "./pet_event.ts";\n';
  await editFile(`${project}/events/all_events.ts`, [
    [lastBody, `${lastBody}import type { WalkEventBody } from "./walk.ts";\n`],
    ["EventBody = ", "EventBody = WalkEventBody | "],
  ]);
  const ofEvents = 'import { type EventsDeps, listEvents } from "./events.ts";\n';
  await editFile(`${project}/src/http/api_operations.ts`, [
    [ofEvents, `import { WALK_OPERATIONS } from "../walks/walk_operations.ts";\n${ofEvents}`],
    ["  listEvents,\n", "  ...WALK_OPERATIONS,\n  listEvents,\n"],
  ]);
}

if (import.meta.main) {
  const [project] = Deno.args;
  for (const name of WITH_TESTS) await cp(ROOT + name, `${project}/${name}`, { recursive: true });
  await addDefinitions(project);
  await addEntries(project);
  await addTexts(project);
  for (const command of await commandsOfGuides()) {
    if (command[0] === "run") await expectDeno(project, command);
  }
}
