/**
 * Adds fields with refinements to a copy of the project. In another copy, which is the older version, these fields have
 * no refinements, so it stores what the newer version must refuse.
 */

import { systemRuntime } from "eventstore-less/startup";
import { fetchFrom } from "../support/fetch_from.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { addFields } from "../support/add_fields.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { readLogLines } from "../support/sound_log.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { importFromCopy, withProjectCopy } from "../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

interface RefinedField {
  name: string;
  definition: string;
  refinement: string;
  right: unknown;
  /** A value that only the refinement refuses. */
  wrong: unknown;
  fault: string;
}

/** The refinement is a part of the definition of the value, or follows `optional()`. */
const FIELDS: RefinedField[] = [
  {
    name: "seen",
    definition: 'text(10, "The last place").optional()REFINEMENT',
    refinement: '.refine((it) => it !== "banana", "must be a place")',
    right: "Rome",
    wrong: "banana",
    fault: "must be a place",
  },
  {
    name: "legs",
    definition: 'int64("The number of legs")REFINEMENT.optional()',
    refinement: '.refine((it) => it % 2n === 0n, "must be even")',
    right: 4,
    wrong: 3,
    fault: "must be even",
  },
];

const REX = { name: "Rex", categoryId: 7 };
const RIGHT = Object.fromEntries(FIELDS.map(({ name, right }) => [name, right]));

/** Calls `use` with the folder of a version whose pets have the fields, too. */
function withFields(isRefined: boolean, use: (project: string) => Promise<void>): Promise<void> {
  return withProjectCopy(async (project) => {
    const entries = FIELDS.map(({ name, definition, refinement }) => {
      return `${name}: { schema: ${
        definition.replace("REFINEMENT", isRefined ? refinement : "")
      } },`;
    });
    await addFields(project, entries.join("\n"));
    await use(project);
  });
}

type Send = (method: string, path: string, body: unknown) => Promise<Response>;

/** Calls `use` with an empty store, and what sends requests to an instance of that version on it. */
async function withService(
  project: string,
  use: (send: Send, store: Store) => Promise<void>,
): Promise<void> {
  const { createService } = await importFromCopy<typeof import("../../src/service.ts")>(
    project,
    "src/service.ts",
  );
  const store = await SqliteStore.open(":memory:");
  try {
    const service = createService({ store, runtime: systemRuntime, report: () => {} });
    const { token } = await issueApiKey(service, { label: "test" });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const send: Send = (method, path, body) => {
      const init = { method, headers, body: JSON.stringify(body) };
      return fetchFrom(service.handler)(new Request(`http://localhost${path}`, init));
    };
    await use(send, store);
  } finally {
    store.close();
  }
}

testCopy("POST and PATCH store nothing that only a refinement refuses", () => {
  return withFields(true, (project) => {
    return withService(project, async (send, store) => {
      const added = await send("POST", "/v1/pets", REX);
      assertEquals([added.status, await added.json()], [201, { id: 1, ...REX }]);
      const changed = await send("PATCH", "/v1/pets/1", RIGHT);
      assertEquals([changed.status, await changed.json()], [200, { id: 1, ...REX, ...RIGHT }]);
      const before = await readLogLines(store);
      for (const { name, wrong, fault } of FIELDS) {
        const message = `Field "${name}" ${fault}`;
        const toAdd = await send("POST", "/v1/pets", { ...REX, [name]: wrong });
        assertEquals([toAdd.status, (await toAdd.json()).message], [400, message]);
        const toChange = await send("PATCH", "/v1/pets/1", { [name]: wrong });
        const orNull = `${message}, or null`;
        assertEquals([toChange.status, (await toChange.json()).message], [400, orNull]);
      }
      assertEquals(await readLogLines(store), before);
      const nulls = Object.fromEntries(FIELDS.map(({ name }) => [name, null]));
      const removed = await send("PATCH", "/v1/pets/1", nulls);
      assertEquals([removed.status, await removed.json()], [200, { id: 1, ...REX }]);
    });
  });
});

testCopy("an audit and a restore refuse what only a refinement refuses", () => {
  return withFields(false, (older) => {
    return withFields(true, async (newer) => {
      for (const { name, right, wrong, fault } of FIELDS) {
        const before = { ...REX, [name]: right };
        const after = { ...REX, [name]: wrong };
        await expectRefused(older, newer, [["POST", "/v1/pets", after]], { name, fault });
        const change: Request = ["PATCH", "/v1/pets/1", { [name]: wrong }];
        await expectRefused(older, newer, [["POST", "/v1/pets", before], change], { name, fault });
      }
    });
  });
});

type Request = Parameters<Send>;

/** Expects that the newer version refuses the line of the last of these requests, which the older version has stored. */
async function expectRefused(
  older: string,
  newer: string,
  requests: Request[],
  { name, fault }: Pick<RefinedField, "name" | "fault">,
): Promise<void> {
  const { auditStore } = await importFromCopy<
    typeof import("../../src/eventstore_less/tools/verify/audit.ts")
  >(
    newer,
    "src/eventstore_less/tools/verify/audit.ts",
  );
  const { verifyExport } = await importFromCopy<
    typeof import("../../src/eventstore_less/tools/restore/verify_export.ts")
  >(
    newer,
    "src/eventstore_less/tools/restore/verify_export.ts",
  );
  const { APPLICATION: application } = await importFromCopy<
    typeof import("../../src/application.ts")
  >(newer, "src/application.ts");
  await withService(older, async (send, store) => {
    for (const request of requests) assertEquals((await send(...request)).ok, true);
    const lines = await readLogLines(store);
    const message = `Line ${lines.length}: ✖ ${fault} → at ${name}`;
    const { faults } = await auditStore({ application, store, runtime: systemRuntime });
    assertEquals(faults.map((it) => it.message), [message]);
    const source = () => ReadableStream.from([linesToBytes(lines)]);
    await assertRejects(() => verifyExport(application, source), Error, message);
  });
}
