/**
 * Follows the guides for changes of the code (src/README.md and src/http/README.md) in one copy of the project: it gets an
 * operation, a field, an event with a field and a member of its own, and a kind of subjects, `test/visits`. The examples
 * have other names than in the guides, so that a project in which somebody has followed these passes, too.
 */

import { systemRuntime } from "eventstore-less/startup";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Pet } from "../../events/pet.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { VERSION } from "../../src/settings/version.ts";
import { editFile } from "../support/edit_file.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { expectDeno, runDeno } from "../support/guide.ts";
import { addDefinitions, addEntries, addTexts, commandsOfGuides } from "./follow_guides.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

/** The tests that fail, or what they say, if the manual, the version or a sample is missing. */
const NAMED_BY_TESTS = [
  `set VERSION, because ${VERSION} is before 90.1`,
  "section 2 of src/http/README.md lists every field",
  "section 4 of src/http/README.md lists every operation",
  "src/http/docs/errors.md lists each code",
  "the manual and the guide of the feed name each type",
  "the events of the sample have all types",
];

testNeeding(PROCESSES)("The guides of the manuals", (test) => {
  return withProjectCopy(async (project) => {
    const commands = await commandsOfGuides();
    const paths = commands.filter(([name]) => name === "task").flatMap(([, , ...paths]) => paths);
    const tests = ["task", "test", ...new Set(paths), "--no-check"];

    await test.step("the compiler names the files that need an entry", async () => {
      await addDefinitions(project);
      const { output } = await runDeno(project, ["check", "src/main.ts", "src/window/main.tsx"]);
      for (const file of ["animals/pets.ts", "window/data/events.ts", "window/data/fields.ts"]) {
        assertStringIncludes(output, `/src/${file}:`);
      }
      assertEquals(output.match(/\[ERROR\]/g)?.length, 3, output);
    });

    await test.step("the tests name the manual, the version and the samples", async () => {
      await addEntries(project);
      const { output } = await runDeno(project, tests);
      for (const name of NAMED_BY_TESTS) assertStringIncludes(output, name);
      assertStringIncludes(output, ` ${NAMED_BY_TESTS.length} failed`);
    });

    await test.step("after that, all that needs no permissions is green", async () => {
      await addTexts(project);
      for (const command of commands.filter(([name]) => name === "run")) {
        await expectDeno(project, command);
      }
      await expectDeno(project, ["fmt", "--check"]);
      await expectDeno(project, ["lint"]);
      await expectDeno(project, ["check"]);
      await expectDeno(project, tests);
      await expectDeno(project, ["test", "--no-check", "--parallel"]);
    });

    await test.step("the fields, the event and the kind are written and read", async () => {
      await expectWorking(project);
    });

    await test.step("data without the whole animal, or without the former values, does not compile", async () => {
      const wrong = "  Added: Pet,\n  Cut: PetChange.omit({ categoryId: true }),\n";
      await editFile(`${project}/events/pet_event.ts`, [[
        "  PetRemoved: Pet,\n",
        `  PetRemoved: Pet,\n${wrong}`,
      ]]);
      const { output } = await runDeno(project, ["check", "events/pet_event.ts"]);
      assertStringIncludes(output, "/events/pet_event.ts:");
      assertStringIncludes(output, "[ERROR]: Property 'previous' does not exist");
      assertStringIncludes(output, "Property 'categoryId' is missing");
    });
  }, WITH_TESTS);
});

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
    const born = { hatchDate: "2024-02-29" };
    const unborn = { hatchDate: "2026-02-30" };
    const noDate = 'Field "hatchDate" must be a date, for example 2026-01-31';
    const reservation = { heldBy: "Ann" };
    const assigned = 'Field "heldBy" is assigned by the service: leave it out';
    await expectRefused("POST", "/pets", { ...rex, ...unborn }, noDate);
    await expectRefused("POST", "/pets", { ...rex, ...reservation }, assigned);
    const added = { id: 1, ...rex, ...born };
    assertEquals(await send("POST", "/pets", { ...rex, ...born }), [201, added]);
    await expectRefused("PATCH", "/pets/1", unborn, `${noDate}, or null`);
    await expectRefused("PATCH", "/pets/1", reservation, assigned);
    assertEquals(await send("PATCH", "/pets/1", { hatchDate: null }), [200, { id: 1, ...rex }]);

    const previous = { status: "available", heldBy: null };
    const pet = { id: 1, ...rex, categoryId: 7n, status: "pending", ...reservation } as Pet;
    const reserved = {
      type: "PetHeld",
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
      const [shown] = events.filter(({ type }: { type: string }) => type === "PetHeld");
      const data = { ...after, previous, until: "2026-12-24" };
      assertEquals([shown.data, events.length], [data, 4], path);
      assertEquals(shown.dataschema, "urn:animal-store:pet-held:90.1");
    }

    const [ann, bob] = ["Ann", "Bob"].map((guest) => ({ day: "2026-12-01", guest }));
    for (let times = 0; times < 2; times++) {
      assertEquals(await send("POST", "/walks", ann, "a"), [201, { id: 1, ...ann }]);
    }
    assertEquals((await send("POST", "/walks", bob, "a"))[1].code, "idempotency_key_reused");
    assertEquals(await send("POST", "/walks", bob, "b"), [201, { id: 2, ...bob }]);
    const noDay = 'Field "day" must be a date, for example 2026-01-31';
    await expectRefused("POST", "/walks", { ...ann, day: "2026-02-30" }, noDay);
    const walks = [{ id: 2, ...bob }, { id: 1, ...ann }];
    assertEquals(await read("/walks"), walks);

    const lines = await linesIn(store);
    const line = new TextEncoder().encode(lines[3]);
    const stored = { position: 4, line };
    const words = 'status available -> pending, heldBy none -> "Ann", until "2026-12-24"';
    assertStringIncludes(prettyEvent(stored, eventOf(application, line), new Map()), words);
    const columns = CSV_HEADER.trim().split(",");
    const cells = csvEvent(stored, eventOf(application, line), new Map()).trim().split(",");
    assertEquals(cells[columns.indexOf("until")], "2026-12-24");
    assertEquals(cells[columns.indexOf("previous.heldBy")], "none");

    assertEquals((await audit({ application, store, runtime })).faults, []);
    await replay({ application, store, runtime }, { graceMs: 0 });
    assertEquals([await read("/pets"), await read("/walks")], [[renamed], walks]);
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
