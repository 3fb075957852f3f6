/** Adds the field of the guide "Add a field" (src/README.md) to a copy of the project. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { VERSION } from "../../src/settings/version.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { addFieldOfWindow, addFields, END_OF_RESOURCES } from "../support/add_fields.ts";
import { editFile } from "../support/edit_file.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { codeOfGuide, commandsOfGuide, expectDeno, runDeno } from "../support/guide.ts";
import { setVersion } from "../support/set_version.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

testCopy("the guide adds a field: tests name the other files, and then the copy is sound", () => {
  return withProjectCopy(async (project) => {
    const [entry, entryOfWindow] = await codeOfGuide("Add a field");
    await addFields(project, entry.replace('"6.1"', '"99.1"'));
    const [check, test] = await commandsOfGuide("Add a field");
    const { output: named } = await runDeno(project, check);
    assertStringIncludes(named, "src/window/fields.tsx");
    await addFieldOfWindow(project, entryOfWindow);
    await expectDeno(project, check);
    const { code, output } = await runDeno(project, test);
    assertEquals(code, 1);
    assertStringIncludes(output, `set VERSION, because ${VERSION} is before 99.1`);
    assertStringIncludes(output, "section 2 of src/http/README.md lists every field");
    assertStringIncludes(output, " 2 failed");

    await setVersion(project, "99.1.0");
    const row = "| `birthDate` | date | optional | if set | when the animal was born |\n";
    await editFile(`${project}/src/http/README.md`, [[END_OF_RESOURCES, row + END_OF_RESOURCES]]);
    await expectDeno(project, test);
  }, WITH_TESTS);
});

testCopy("a date that does not exist is refused, and a field that only events set, too", () => {
  return withProjectCopy(async (project) => {
    const [entry] = await codeOfGuide("Add a field");
    const ofEvents =
      'soldOn: { schema: z.iso.date().optional(), release: "6.1", setBy: "events" },';
    await addFields(project, entry + ofEvents);
    const { createService } = await importFromCopy<typeof import("../../src/service.ts")>(
      project,
      "src/service.ts",
    );
    const store = await SqliteStore.open(":memory:");
    try {
      const service = createService({ store, runtime: systemRuntime, report: () => {} });
      const { token } = await issueApiKey(service, { label: "test" });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const send = async (method: string, path: string, body: object) => {
        const init = { method, headers, body: JSON.stringify(body) };
        const url = `http://localhost/v1/pets${path}`;
        const response = await fetchFrom(service.handler)(new Request(url, init));
        const { code, message, ...pet } = await response.json();
        return [response.status, code === undefined ? pet : message];
      };
      const rex = { name: "Rex", categoryId: 7 };
      const born = { birthDate: "2024-02-29" };
      const unborn = { birthDate: "2026-02-30" };
      const sold = { soldOn: "2026-02-28" };
      const noDate = 'Field "birthDate" must be a date, for example 2026-01-31';
      const assigned = 'Field "soldOn" is assigned by the service: leave it out';
      assertEquals(await send("POST", "", { ...rex, ...unborn }), [400, noDate]);
      assertEquals(await send("POST", "", { ...rex, ...sold }), [400, assigned]);
      assertEquals(await send("POST", "", { ...rex, ...born }), [201, { id: 1, ...rex, ...born }]);
      assertEquals(await send("PATCH", "/1", unborn), [400, `${noDate}, or null`]);
      assertEquals(await send("PATCH", "/1", sold), [400, assigned]);
      assertEquals(await send("PATCH", "/1", { birthDate: null }), [200, { id: 1, ...rex }]);
    } finally {
      store.close();
    }
  });
});
