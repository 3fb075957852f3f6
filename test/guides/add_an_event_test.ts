/** Adds the event of the guide "Add an event" (src/README.md) to a copy of the project, with a member of its own. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import type { Pet } from "../../events/pet.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { VERSION } from "../../src/settings/version.ts";
import { addFieldOfWindow, addFields, END_OF_RESOURCES } from "../support/add_fields.ts";
import { editFile, type TextEdit } from "../support/edit_file.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { codeOfGuide, commandsOfGuide, expectDeno, runDeno } from "../support/guide.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { setVersion } from "../support/set_version.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

const FIELD = `reservedBy: {
  schema: text(100, "Who has reserved the animal").optional(),
  release: "99.1",
  setBy: "events",
  isPersonal: true,
},`;

const FIELD_OF_WINDOW = `reservedBy: fieldOf<string | undefined>({
  name: "reservedBy",
  label: "Reserved by",
  isReadOnly: true,
  textOf: (value) => value ?? "",
  parse: (text) => sound(text),
}),`;

const OWN = 'PetChange.extend({ until: z.iso.date().meta({ description: "The last day" }) })';

/** An event of the type for the sample log, in place of an addition. */
const SAMPLE = `} else if (position === 97) {
      index = pets.length - 1;
      const before = pets[index]!;
      const after = pets[index] = { ...before, reservedBy: "Ann" };
      const previous = formerValuesOf(before, after);
      body = { type: "PetReserved", data: { ...after, previous, until: "2026-12-24" } };
    } else if (position % CHANGE_EVERY === 0) {`;

/** Adds the field and the type of the guide. The type has a member of its own. */
async function addType(project: string): Promise<void> {
  const [type] = await codeOfGuide("Add an event");
  assertEquals(type.trim(), "PetReserved: PetChange,");
  await addFields(project, FIELD);
  await addFieldOfWindow(project, FIELD_OF_WINDOW);
  await editFile(`${project}/events/pet_event.ts`, [
    ['import type { z } from "zod";', 'import { z } from "zod";'],
    ["  PetRemoved: Pet,\n", `  PetRemoved: Pet,\n  PetReserved: ${OWN},\n`],
  ]);
}

/** Adds that for which the compiler asks: the entry of the guide, and what people see. */
async function addEntry(project: string): Promise<void> {
  const [, entry] = await codeOfGuide("Add an event");
  const removed = "  PetRemoved: {\n";
  const added = entry.replace('"6.1"', '"99.1"');
  await editFile(`${project}/src/animals/pets.ts`, [[removed, added + removed]]);
  const kind = '  PetRemoved: "removed",\n';
  const ofWindow = `${project}/src/window/events.ts`;
  await editFile(ofWindow, [[kind, `${kind}  PetReserved: "changed",\n`]]);
}

testCopy(
  "the guide adds an event: the compiler and tests name the other files, and then the copy is sound",
  () => {
    return withProjectCopy(async (project) => {
      const [check, test] = await commandsOfGuide("Add a field");
      const edit = (file: string, ...edits: TextEdit[]) => editFile(`${project}/${file}`, edits);
      await addType(project);
      const { output: errors } = await runDeno(project, check);
      for (const file of ["src/animals/pets.ts", "src/window/events.ts"]) {
        assertStringIncludes(errors, `/${file}:`);
      }
      assertEquals(errors.match(/\[ERROR\]/g)?.length, 2, errors);
      await addEntry(project);

      const { output: faults } = await runDeno(project, test);
      assertStringIncludes(faults, `set VERSION, because ${VERSION} is before 99.1`);
      assertStringIncludes(faults, "section 2 of src/http/README.md lists every field");
      assertStringIncludes(faults, "the manual and the guide of the feed name each type");
      assertStringIncludes(faults, "the events of the sample have all types");
      assertStringIncludes(faults, " 4 failed");
      await setVersion(project, "99.1.0");
      const row = "| `reservedBy` | string | – | if set | who has reserved the animal |\n";
      await edit(
        "src/http/README.md",
        [END_OF_RESOURCES, row + END_OF_RESOURCES],
        ["`PetUpdated`, `PetRemoved` ", "`PetUpdated`, `PetRemoved`, `PetReserved` "],
      );
      await edit("src/http/docs/guides.md", ['"PetRemoved"]', '"PetRemoved", "PetReserved"]']);
      const change = "} else if (position % CHANGE_EVERY === 0) {";
      await edit("test/support/sample_log.ts", [change, SAMPLE]);
      await expectDeno(project, check);
      await expectDeno(project, test);
    }, WITH_TESTS);
  },
);

testCopy("data without the whole animal, or without the former values, does not compile", () => {
  return withProjectCopy(async (project) => {
    const types = "export const PET_EVENT_DATA = {\n";
    const path = `${project}/events/pet_event.ts`;
    const source = await Deno.readTextFile(path);
    for (const data of ["Pet.pick({ id: true })", "Pet", "PetChange.omit({ categoryId: true })"]) {
      await Deno.writeTextFile(path, source.replace(types, `${types}  PetReserved: ${data},\n`));
      const { output } = await runDeno(project, ["check", "events/pet_event.ts"]);
      assertStringIncludes(output, "/events/pet_event.ts:", data);
      assertStringIncludes(output, "[ERROR]", data);
    }
  });
});

testCopy(
  "an event with a member of its own changes the animal everywhere, and is shown whole",
  () => {
    return withProjectCopy(async (project) => {
      await addType(project);
      await addEntry(project);
      const load = <Module>(path: string) => importFromCopy<Module>(project, path);
      type Modules = {
        service: typeof import("../../src/service.ts");
        audit: typeof import("../../scripts/verify/audit.ts");
        replay: typeof import("../../scripts/replay/replay.ts");
        restore: typeof import("../../scripts/restore/restore.ts");
        csv: typeof import("../../scripts/log/csv_event.ts");
        pretty: typeof import("../../scripts/log/pretty_event.ts");
        lines: typeof import("../../src/eventstore_less/log/lines.ts");
      };
      const { createService } = await load<Modules["service"]>("src/service.ts");
      const { audit, linesOfRecords } = await load<Modules["audit"]>("scripts/verify/audit.ts");
      const { replay } = await load<Modules["replay"]>("scripts/replay/replay.ts");
      const { restore, verifyExport } = await load<Modules["restore"]>(
        "scripts/restore/restore.ts",
      );
      const { CSV_HEADER, csvEvent } = await load<Modules["csv"]>("scripts/log/csv_event.ts");
      const { prettyEvent } = await load<Modules["pretty"]>("scripts/log/pretty_event.ts");
      const { eventOf } = await load<Modules["lines"]>("src/eventstore_less/log/lines.ts");
      const linesIn = async (store: Store) => {
        const lines = (await Array.fromAsync(linesOfRecords(store))).flat();
        return lines.map((line) => new TextDecoder().decode(line));
      };
      const store = await SqliteStore.open(":memory:");
      const restored = await SqliteStore.open(":memory:");
      try {
        const service = createService({ store, runtime: systemRuntime, report: () => {} });
        const { token, id: actor } = await issueApiKey(service, { label: "test" });
        const send = (method: string, path: string, body?: object) => {
          const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
          const init = { method, headers, body: body && JSON.stringify(body) };
          return fetchFrom(service.handler)(new Request(`http://localhost/v1${path}`, init));
        };
        const jsonOf = async (path: string) => await (await send("GET", path)).json();
        const rex = { id: 1, name: "Rex", categoryId: 7, status: "available" };
        await send("POST", "/pets", { name: "Rex", categoryId: 7, status: "available" });
        assertEquals(await jsonOf("/pets"), [rex]);

        const previous = { status: "available", reservedBy: null };
        const pet = { ...rex, categoryId: 7n, status: "pending", reservedBy: "Ann" } as Pet;
        const reserved = {
          type: "PetReserved",
          id: systemRuntime.newId(),
          time: new Date().toISOString(),
          actor,
          data: { ...pet, previous, until: "2026-12-24" },
          predecessor: 2,
        };
        await service.appender.append({
          subject: "pets/1",
          prepare: () => undefined,
          decide: () => [reserved] as never,
        });
        const after = { ...rex, status: "pending", reservedBy: "Ann" };
        assertEquals(await jsonOf("/pets?status=pending"), [after]);
        assertEquals(await jsonOf("/pets?status=available"), []);
        assertEquals(await jsonOf("/pets?categoryId=7"), [after]);
        assertEquals(await jsonOf("/pets/1"), after);
        const changed = await send("PATCH", "/pets/1", { name: "Max" });
        const renamed = { ...after, name: "Max" };
        assertEquals([changed.status, await changed.json()], [200, renamed]);
        const data = { ...after, previous, until: "2026-12-24" };
        for (const path of ["/pets/1/events", "/events?timeout=0"]) {
          const events = await jsonOf(path);
          const [shown] = events.filter(({ type }: { type: string }) => type === "PetReserved");
          assertEquals([shown.data, events.length], [data, 3], path);
          assertEquals(shown.dataschema, "urn:animal-store:pet-reserved:99.1");
        }

        const lines = await linesIn(store);
        const line = new TextEncoder().encode(lines[2]);
        const stored = { position: 3, line };
        const words = 'status available -> pending, reservedBy none -> "Ann", until "2026-12-24"';
        assertStringIncludes(prettyEvent(stored, eventOf(line), new Map()), words);
        const columns = CSV_HEADER.trim().split(",");
        const cells = csvEvent(stored, eventOf(line), new Map()).trim().split(",");
        assertEquals(cells[columns.indexOf("until")], "2026-12-24");
        assertEquals(cells[columns.indexOf("previous.reservedBy")], "none");

        const runtime = systemRuntime;
        assertEquals((await audit({ store, runtime })).faults, []);
        await replay({ store, runtime }, { graceMs: 0 });
        assertEquals(await jsonOf("/pets"), [renamed]);
        const removed = await send("DELETE", "/pets/1");
        assertEquals([removed.status, await jsonOf("/pets")], [204, []]);
        assertEquals((await audit({ store, runtime })).faults, []);
        const source = () => ReadableStream.from([linesToBytes(lines)]);
        await restore({ store: restored, runtime }, source, await verifyExport(source));
        assertEquals((await audit({ store: restored, runtime })).faults, []);
        assertEquals(await linesIn(restored), lines);
      } finally {
        store.close();
        restored.close();
      }
    });
  },
);
