/**
 * Follows the guides for changes of the code (src/README.md and src/http/README.md) in one copy of the project: it gets an
 * operation, a field, an event with a field and a member of its own, and a kind of subjects, `test/visits`.
 */

import { systemRuntime } from "eventstore-less/startup";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { cp } from "node:fs/promises";
import type { Pet } from "../../events/pet.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { VERSION } from "../../src/settings/version.ts";
import { addFields } from "../support/add_fields.ts";
import { editFile, type TextEdit } from "../support/edit_file.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { codeOfGuide, commandsOfGuide, expectDeno, runDeno } from "../support/guide.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, ROOT, WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

const GUIDES = ["Add an operation", "Add a field", "Add a kind of subjects"];

const FIELD_OF_EVENT = `reservedBy: {
  schema: text(100, "Who has reserved the animal").optional(),
  release: "99.1",
  setBy: "events",
  isPersonal: true,
},`;

const FIELD_OF_EVENT_IN_WINDOW = `reservedBy: fieldOf<string | undefined>({
  name: "reservedBy",
  label: "Reserved by",
  isReadOnly: true,
  textOf: (value) => value ?? "",
  parse: (text) => sound(text),
}),`;

const DATA = 'PetChange.extend({ until: z.iso.date().meta({ description: "The last day" }) })';

const TEST_OF_OPERATION = `import { assertEquals } from "@std/assert";
import { openTestService } from "../support/test_service.ts";

Deno.test("countPets counts the animals, and refuses a parameter", async () => {
  await using service = await openTestService();
  for (const name of ["Rex", "Max"]) await service.add({ name, categoryId: 7 });
  assertEquals(await (await service.send("/v1/count")).json(), { animals: 2 });
  assertEquals((await service.send("/v1/count?of=dogs")).status, 400);
});
`;

const ROWS_OF_FIELDS = `| \`birthDate\` | date | optional | if set | when the animal was born |
| \`reservedBy\` | string | – | if set | who has reserved the animal |
`;

const ROWS_OF_OPERATIONS = `| 4.90 | \`listVisits\` | \`GET /visits\` | see the description |
| 4.91 | \`bookVisit\` | \`POST /visits\` | see the description |
| 4.92 | \`countPets\` | \`GET /count\` | see the description |
`;

/** An event of each type for the sample log, in place of others. */
const SAMPLES = `} else if (position === 95) {
      body = { type: "VisitBooked", data: { id: 1, day: "2026-12-01", visitor: "Ann" } };
    } else if (position === 97) {
      index = pets.length - 1;
      const before = pets[index]!;
      const after = pets[index] = { ...before, reservedBy: "Ann" };
      const previous = formerValuesOf(before, after);
      body = { type: "PetReserved", data: { ...after, previous, until: "2026-12-24" } };
    } else if (position % CHANGE_EVERY === 0) {`;

/** The tests that fail, or what they say, if the manual, the version or a sample is missing. */
const NAMED_BY_TESTS = [
  `set VERSION, because ${VERSION} is before 99.1`,
  "section 2 of src/http/README.md lists every field",
  "section 4 of src/http/README.md lists every operation",
  "src/http/docs/errors.md lists each code",
  "the manual and the guide of the feed name each type",
  "the events of the sample have all types",
];

testNeeding(PROCESSES)("The guides of the manuals", (test) => {
  return withProjectCopy(async (project) => {
    const edit = (file: string, ...edits: TextEdit[]) => editFile(`${project}/${file}`, edits);
    const commands = (await Promise.all(GUIDES.map(commandsOfGuide))).flat();
    const paths = commands.filter(([name]) => name === "task").flatMap(([, , ...paths]) => paths);
    const tests = ["task", "test", ...new Set(paths), "--no-check"];
    const [field, fieldOfWindow] = await codeOfGuide("Add a field");
    const [type, entryOfType] = await codeOfGuide("Add an event");

    await test.step("the compiler names the files that need an entry", async () => {
      await addOperation(project);
      await addKind(project);
      await addFields(project, field.replace('"6.1"', '"99.1"') + FIELD_OF_EVENT);
      assertEquals(type.trim(), "PetReserved: PetChange,");
      await edit(
        "events/pet_event.ts",
        ['import type { z } from "zod";', 'import { z } from "zod";'],
        ["  PetRestored: Pet,\n", `  PetRestored: Pet,\n  PetReserved: ${DATA},\n`],
      );
      const { output } = await runDeno(project, ["check", "src/main.ts", "src/window/main.tsx"]);
      for (const file of ["animals/pets.ts", "window/data/events.ts", "window/data/fields.ts"]) {
        assertStringIncludes(output, `/src/${file}:`);
      }
      assertEquals(output.match(/\[ERROR\]/g)?.length, 3, output);
    });

    await test.step("the tests name the manual, the version and the samples", async () => {
      const entry = entryOfType.replace('"6.1"', '"99.1"');
      await edit("src/animals/pets.ts", ["  PetRemoved: {\n", `${entry}  PetRemoved: {\n`]);
      const kind = '  PetRemoved: "removed",\n';
      await edit("src/window/data/events.ts", [kind, `${kind}  PetReserved: "changed",\n`]);
      const added = `  note,\n${fieldOfWindow}\n${FIELD_OF_EVENT_IN_WINDOW}\n};`;
      await edit("src/window/data/fields.ts", ["  note,\n};", added]);
      const { output } = await runDeno(project, tests);
      for (const name of NAMED_BY_TESTS) assertStringIncludes(output, name);
      assertStringIncludes(output, ` ${NAMED_BY_TESTS.length} failed`);
    });

    await test.step("after that, the copy is sound", async () => {
      await edit("src/settings/version.ts", [VERSION, "99.1.0"]);
      const changes = "## 99.1.0\n\n**Operators**: visits.\n\n**Callers**: visits.\n\n";
      await edit("scripts/changelog.md", [`## ${VERSION}\n`, `${changes}## ${VERSION}\n`]);
      const manual = await Deno.readTextFile(`${project}/src/http/README.md`);
      const [firstOperation] = /\n\| 4\.1 .*\n/.exec(manual)!;
      const afterFields = "\n(1) A client does not send it.";
      await edit(
        "src/http/README.md",
        [firstOperation, firstOperation + ROWS_OF_OPERATIONS],
        [afterFields, ROWS_OF_FIELDS + afterFields],
        ["`PetRemoved`, `PetRestored` ", "`PetRemoved`, `PetRestored`, `PetReserved` "],
      );
      await edit("src/http/docs/guides.md", ['"PetRestored"]', '"PetRestored", "PetReserved"]']);
      const change = "} else if (position % CHANGE_EVERY === 0) {";
      await edit("test/support/sample_log.ts", [change, SAMPLES]);
      const write = commands.find(([name]) => name === "run")!;
      await expectDeno(project, write);
      await expectDeno(project, ["check"]);
      await expectDeno(project, tests);
      const formatted = ["src/visits", "src/application.ts", "src/animals/count_pets.ts"];
      await expectDeno(project, ["fmt", "--check", ...formatted]);
      await expectDeno(project, ["lint", "src/visits", "src/animals", "test/animals"]);
    });

    await test.step("the fields, the event and the kind are written and read", async () => {
      await expectWorking(project);
    });

    await test.step("data without the whole animal, or without the former values, does not compile", async () => {
      const wrong = "  Added: Pet,\n  Cut: PetChange.omit({ categoryId: true }),\n";
      await edit("events/pet_event.ts", ["  PetRemoved: Pet,\n", `  PetRemoved: Pet,\n${wrong}`]);
      const { output } = await runDeno(project, ["check", "events/pet_event.ts"]);
      assertStringIncludes(output, "/events/pet_event.ts:");
      assertStringIncludes(output, "[ERROR]: Property 'previous' does not exist");
      assertStringIncludes(output, "Property 'categoryId' is missing");
    });
  }, WITH_TESTS);
});

async function addOperation(project: string): Promise<void> {
  const [operation] = await codeOfGuide("Add an operation");
  await Deno.writeTextFile(`${project}/src/animals/count_pets.ts`, operation);
  await Deno.writeTextFile(`${project}/test/animals/count_pets_test.ts`, TEST_OF_OPERATION);
  await editFile(`${project}/src/animals/pet_operations.ts`, [
    ["import { createPet", 'import { countPets } from "./count_pets.ts";\nimport { createPet'],
    ["  listPetEvents,\n", "  listPetEvents,\n  countPets,\n"],
  ]);
}

/** Adds the folder of the kind, and three lines with their imports. */
async function addKind(project: string): Promise<void> {
  for (const folder of ["events", "src"]) {
    await cp(`${ROOT}test/visits/${folder}`, `${project}/${folder}`, { recursive: true });
  }
  await editFile(`${project}/src/visits/visits.ts`, [['release: "6.1"', 'release: "99.1"']]);
  const lastImport = 'import { API_KEYS } from "./keys/api_keys.ts";\n';
  const added = 'import { VISITS } from "./visits/visits.ts";\n';
  await editFile(`${project}/src/application.ts`, [
    [lastImport, lastImport + added],
    ["collections: [PETS,", "collections: [VISITS, PETS,"],
  ]);
  const lastBody = 'import type { PetEventBody } from "./pet_event.ts";\n';
  await editFile(`${project}/events/all_events.ts`, [
    [lastBody, `${lastBody}import type { VisitEventBody } from "./visit.ts";\n`],
    ["EventBody = PetEventBody |", "EventBody = VisitEventBody | PetEventBody |"],
  ]);
  const ofEvents = 'import { type EventsDeps, listEvents } from "./events.ts";\n';
  await editFile(`${project}/src/http/api_operations.ts`, [
    [ofEvents, `import { VISIT_OPERATIONS } from "../visits/visit_operations.ts";\n${ofEvents}`],
    ["  listEvents,\n", "  ...VISIT_OPERATIONS,\n  listEvents,\n"],
  ]);
}

type Modules = {
  application: typeof import("../../src/application.ts");
  service: typeof import("../../src/service.ts");
  audit: typeof import("../../src/eventstore_less/tools/verify/audit.ts");
  tools: typeof import("../../src/eventstore_less/tools.ts");
  csv: typeof import("../../scripts/log/csv_event.ts");
  pretty: typeof import("../../scripts/log/pretty_event.ts");
  lines: typeof import("../../src/eventstore_less/log/lines.ts");
};

async function expectWorking(project: string): Promise<void> {
  const load = <Module>(path: string) => importFromCopy<Module>(project, path);
  const { APPLICATION: application } = await load<Modules["application"]>("src/application.ts");
  const { createService } = await load<Modules["service"]>("src/service.ts");
  const { linesOfRecords } = await load<Modules["audit"]>(
    "src/eventstore_less/tools/verify/audit.ts",
  );
  const { audit, replay, restore } = await load<Modules["tools"]>(
    "src/eventstore_less/tools.ts",
  );
  const { CSV_HEADER, csvEvent } = await load<Modules["csv"]>("scripts/log/csv_event.ts");
  const { prettyEvent } = await load<Modules["pretty"]>("scripts/log/pretty_event.ts");
  const { eventOf } = await load<Modules["lines"]>("src/eventstore_less/log/lines.ts");
  const linesIn = async (store: Store) => {
    const lines = (await Array.fromAsync(linesOfRecords(store))).flat();
    return lines.map((line) => new TextDecoder().decode(line));
  };
  const runtime = systemRuntime;
  const store = await SqliteStore.open(":memory:");
  const restored = await SqliteStore.open(":memory:");
  try {
    const service = createService({ store, runtime, report: () => {} });
    const { token, id: actor } = await issueApiKey(service, { label: "test" });
    const send = async (method: string, path: string, body?: object, once?: string) => {
      const headers = new Headers({ authorization: `Bearer ${token}` });
      if (body !== undefined) headers.set("content-type", "application/json");
      if (once !== undefined) headers.set("idempotency-key", once);
      const init = { method, headers, body: body && JSON.stringify(body) };
      const request = new Request(`http://localhost/v1${path}`, init);
      const response = await fetchFrom(service.handler)(request);
      const text = await response.text();
      return [response.status, text === "" ? undefined : JSON.parse(text)];
    };
    const read = async (path: string) => (await send("GET", path))[1];
    const expectRefused = async (method: string, path: string, body: object, message: string) => {
      const [status, error] = await send(method, path, body);
      assertEquals([status, error.message], [400, message]);
    };

    const rex = { name: "Rex", categoryId: 7, status: "available" };
    const born = { birthDate: "2024-02-29" };
    const unborn = { birthDate: "2026-02-30" };
    const noDate = 'Field "birthDate" must be a date, for example 2026-01-31';
    const reservation = { reservedBy: "Ann" };
    const assigned = 'Field "reservedBy" is assigned by the service: leave it out';
    await expectRefused("POST", "/pets", { ...rex, ...unborn }, noDate);
    await expectRefused("POST", "/pets", { ...rex, ...reservation }, assigned);
    const added = { id: 1, ...rex, ...born };
    assertEquals(await send("POST", "/pets", { ...rex, ...born }), [201, added]);
    await expectRefused("PATCH", "/pets/1", unborn, `${noDate}, or null`);
    await expectRefused("PATCH", "/pets/1", reservation, assigned);
    assertEquals(await send("PATCH", "/pets/1", { birthDate: null }), [200, { id: 1, ...rex }]);

    const previous = { status: "available", reservedBy: null };
    const pet = { id: 1, ...rex, categoryId: 7n, status: "pending", ...reservation } as Pet;
    const reserved = {
      type: "PetReserved",
      id: runtime.newId(),
      time: new Date().toISOString(),
      actor,
      data: { ...pet, previous, until: "2026-12-24" },
      predecessor: 3,
    };
    await service.appender.append({
      subject: "pets/1",
      prepare: () => undefined,
      decide: () => [reserved] as never,
    });
    const after = { id: 1, ...rex, status: "pending", ...reservation };
    assertEquals(await read("/pets?status=pending"), [after]);
    assertEquals(await read("/pets?status=available"), []);
    assertEquals(await read("/pets?categoryId=7"), [after]);
    const renamed = { ...after, name: "Max" };
    assertEquals(await send("PATCH", "/pets/1", { name: "Max" }), [200, renamed]);
    for (const path of ["/pets/1/events", "/events?timeout=0"]) {
      const events = await read(path);
      const [shown] = events.filter(({ type }: { type: string }) => type === "PetReserved");
      const data = { ...after, previous, until: "2026-12-24" };
      assertEquals([shown.data, events.length], [data, 4], path);
      assertEquals(shown.dataschema, "urn:animal-store:pet-reserved:99.1");
    }

    const [ann, bob] = ["Ann", "Bob"].map((visitor) => ({ day: "2026-12-01", visitor }));
    for (let times = 0; times < 2; times++) {
      assertEquals(await send("POST", "/visits", ann, "a"), [201, { id: 1, ...ann }]);
    }
    assertEquals((await send("POST", "/visits", bob, "a"))[1].code, "idempotency_key_reused");
    assertEquals(await send("POST", "/visits", bob, "b"), [201, { id: 2, ...bob }]);
    const noDay = 'Field "day" must be a date, for example 2026-01-31';
    await expectRefused("POST", "/visits", { ...ann, day: "2026-02-30" }, noDay);
    const visits = [{ id: 2, ...bob }, { id: 1, ...ann }];
    assertEquals(await read("/visits"), visits);

    const lines = await linesIn(store);
    const line = new TextEncoder().encode(lines[3]);
    const stored = { position: 4, line };
    const words = 'status available -> pending, reservedBy none -> "Ann", until "2026-12-24"';
    assertStringIncludes(prettyEvent(stored, eventOf(application, line), new Map()), words);
    const columns = CSV_HEADER.trim().split(",");
    const cells = csvEvent(stored, eventOf(application, line), new Map()).trim().split(",");
    assertEquals(cells[columns.indexOf("until")], "2026-12-24");
    assertEquals(cells[columns.indexOf("previous.reservedBy")], "none");

    assertEquals((await audit({ application, store, runtime })).faults, []);
    await replay({ application, store, runtime }, { graceMs: 0 });
    assertEquals([await read("/pets"), await read("/visits")], [[renamed], visits]);
    assertEquals(await send("DELETE", "/pets/1"), [204, undefined]);
    assertEquals((await audit({ application, store, runtime })).faults, []);
    const source = () => ReadableStream.from([linesToBytes(lines)]);
    await restore(source, application, { application, store: restored, runtime });
    assertEquals((await audit({ application, store: restored, runtime })).faults, []);
    assertEquals(await linesIn(restored), lines);
  } finally {
    store.close();
    restored.close();
  }
}
