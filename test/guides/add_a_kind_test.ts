/** Adds the kind of subjects of the guide "Add a kind of subjects" (src/README.md) to a copy of the project: `test/visits`. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { cp } from "node:fs/promises";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { VERSION } from "../../src/settings/version.ts";
import { editFile, type TextEdit } from "../support/edit_file.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { commandsOfGuide, expectDeno, runDeno } from "../support/guide.ts";
import { setVersion } from "../support/set_version.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, ROOT, WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

const FILES = ["visits", "described_visits", "book_visit", "list_visits", "visit_operations"];

/** The two rows of the manual. */
const ROWS = [["listVisits", "GET"], ["bookVisit", "POST"]].map(([id, method], index) => {
  return `| 4.${90 + index} | \`${id}\` | \`${method} /visits\` | see the description |\n`;
}).join("");

/** An event of the type for the sample log, in place of a change. */
const SAMPLE = `} else if (position === 95) {
      body = { type: "VisitBooked", data: { id: 1, day: "2026-12-01", visitor: "Ann" } };
    } else if (position % CHANGE_EVERY === 0) {`;

/** Adds the folder, and the three lines with their imports. */
async function addKind(project: string): Promise<void> {
  for (const name of FILES) {
    await cp(`${ROOT}test/visits/${name}.ts`, `${project}/src/visits/${name}.ts`);
  }
  const edit = (file: string, ...edits: TextEdit[]) => editFile(`${project}/${file}`, edits);
  await edit("src/visits/visits.ts", ['release: "6.1"', 'release: "99.1"']);
  const lastImport = 'import { API_KEYS } from "./keys/api_keys.ts";\n';
  const added = 'import { type VisitEventBody, VISITS } from "./visits/visits.ts";\n';
  await edit(
    "src/application.ts",
    [lastImport, lastImport + added],
    ["COLLECTIONS = [PETS,", "COLLECTIONS = [VISITS, PETS,"],
    ["EventBody = PetEventBody |", "EventBody = VisitEventBody | PetEventBody |"],
  );
  const ofEvents = 'import { type EventsDeps, listEvents } from "./events.ts";\n';
  await edit(
    "src/http/api_operations.ts",
    [ofEvents, `import { VISIT_OPERATIONS } from "../visits/visit_operations.ts";\n${ofEvents}`],
    ["  listEvents,\n", "  ...VISIT_OPERATIONS,\n  listEvents,\n"],
  );
}

testCopy("the guide adds a kind: tests name the other files, and then the copy is sound", () => {
  return withProjectCopy(async (project) => {
    await addKind(project);
    const [write, check, test] = await commandsOfGuide("Add a kind of subjects");
    const { output } = await runDeno(project, [...test, "--no-check"]);
    assertStringIncludes(output, `set VERSION, because ${VERSION} is before 99.1`);
    assertStringIncludes(output, "section 4 of src/http/README.md lists every operation");
    assertStringIncludes(output, "the events of the sample have all types");
    assertStringIncludes(output, "src/http/docs/errors.md lists each code");
    assertStringIncludes(output, " 4 failed");

    const edit = (file: string, ...edits: TextEdit[]) => editFile(`${project}/${file}`, edits);
    await setVersion(project, "99.1.0");
    const manual = await Deno.readTextFile(`${project}/src/http/README.md`);
    const [firstRow] = /\n\| 4\.1 .*\n/.exec(manual)!;
    await edit("src/http/README.md", [firstRow, firstRow + ROWS]);
    const change = "} else if (position % CHANGE_EVERY === 0) {";
    await edit("test/support/sample_log.ts", [change, SAMPLE]);
    await expectDeno(project, write);
    await expectDeno(project, [...test, "--no-check"]);
    await expectDeno(project, check);
    await expectDeno(project, ["fmt", "--check", "src/visits", "src/application.ts"]);
    await expectDeno(project, ["lint", "src/visits"]);
  }, WITH_TESTS);
});

testCopy("a kind that the guide adds is written, read, replayed and audited", () => {
  return withProjectCopy(async (project) => {
    await addKind(project);
    const load = <Module>(path: string) => importFromCopy<Module>(project, path);
    type Modules = {
      service: typeof import("../../src/service.ts");
      audit: typeof import("../../scripts/verify/audit.ts");
      replay: typeof import("../../scripts/replay/replay.ts");
    };
    const { createService } = await load<Modules["service"]>("src/service.ts");
    const { audit } = await load<Modules["audit"]>("scripts/verify/audit.ts");
    const { replay } = await load<Modules["replay"]>("scripts/replay/replay.ts");
    const store = await SqliteStore.open(":memory:");
    try {
      const service = createService({ store, runtime: systemRuntime, report: () => {} });
      const { token } = await issueApiKey(service, { label: "test" });
      const send = async (method: string, body?: object, once = "a") => {
        const headers = {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "idempotency-key": once,
        };
        const init = { method, headers, body: body && JSON.stringify(body) };
        const url = "http://localhost/v1/visits";
        const response = await fetchFrom(service.handler)(new Request(url, init));
        return [response.status, await response.json()];
      };
      const [ann, bob] = ["Ann", "Bob"].map((visitor) => ({ day: "2026-12-01", visitor }));
      assertEquals(await send("POST", ann), [201, { id: 1, ...ann }]);
      assertEquals(await send("POST", ann), [201, { id: 1, ...ann }]);
      assertEquals((await send("POST", bob))[1].code, "idempotency_key_reused");
      assertEquals(await send("POST", bob, "b"), [201, { id: 2, ...bob }]);
      const [status, { message }] = await send("POST", { ...ann, day: "2026-02-30" }, "c");
      assertEquals(status, 400);
      assertEquals(message, 'Field "day" must be a date, for example 2026-01-31');
      const all = [{ id: 2, ...bob }, { id: 1, ...ann }];
      assertEquals(await send("GET"), [200, all]);
      await replay({ store, runtime: systemRuntime }, { graceMs: 0 });
      assertEquals(await send("GET"), [200, all]);
      const { sound, position } = await audit({ store, runtime: systemRuntime });
      assertEquals([sound, position], [true, 3]);
    } finally {
      store.close();
    }
  });
});
