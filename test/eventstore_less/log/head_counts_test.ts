/** In a copy of the project, API keys are counted by the name that a list of pets has. */

import { assertEquals } from "@std/assert";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { encodeHead, readHead } from "../../../src/eventstore_less/log/head.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { systemRuntime } from "../../../src/runtime/system_runtime.ts";
import { editFile } from "../../support/edit_file.ts";
import { fetchFrom } from "../../support/fetch_from.ts";
import { commit } from "../../support/store_contract.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { importFromCopy, withProjectCopy } from "../../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

const REX = { name: "Rex", categoryId: 7, status: "available" };

testCopy(
  "two collections count by the same name, and lists, the summary and the audit see their own counts",
  () => {
    return withProjectCopy(async (project) => {
      await editFile(`${project}/src/keys/api_keys.ts`, [
        ["    isFirst: true,\n", '    isFirst: true,\n    tally: () => [["available", 1]],\n'],
        [
          '  name: "keys",\n',
          '  name: "keys",\n  summaryOf: ({ available }) => ({ keys: available }),\n',
        ],
      ]);
      const { createService } = await importFromCopy<typeof import("../../../src/service.ts")>(
        project,
        "src/service.ts",
      );
      const { audit } = await importFromCopy<typeof import("../../../scripts/verify/audit.ts")>(
        project,
        "scripts/verify/audit.ts",
      );
      const store = await SqliteStore.open(":memory:");
      try {
        const service = createService({ store, runtime: systemRuntime, report: () => {} });
        await issueApiKey(service, { label: "one" });
        const { token } = await issueApiKey(service, { label: "two" });
        const send = (init: RequestInit, query = "") => {
          const headers = {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
          };
          const request = new Request(`http://localhost/v1/pets${query}`, { ...init, headers });
          return fetchFrom(service.handler)(request);
        };
        const added = await send({ method: "POST", body: JSON.stringify(REX) });
        assertEquals(added.status, 201, await added.text());
        for (const query of ["", "?status=available"]) {
          const page = await send({}, query);
          assertEquals([page.status, page.headers.get("x-total-count")], [200, "1"]);
          assertEquals(await page.json(), [{ id: 1, ...REX }]);
        }
        const report = await audit({ store, runtime: systemRuntime });
        const { pets, keys } = report.summary;
        assertEquals([report.sound, pets, keys], [true, 1, 2]);

        const { head } = await readHead(store);
        const wrong: Head["counts"] = { ...head.counts, keys: { available: 1 } };
        const value = encodeHead({ ...head, counts: wrong });
        await commit(store, [{ type: "set", key: HEAD_KEY, value }]);
        const { faults } = await audit({ store, runtime: systemRuntime });
        const [is, shouldBe] = [wrong, head.counts].map((counts) => JSON.stringify(counts));
        const message =
          `The head is wrong: its field counts is ${is}, but the log says ${shouldBe}`;
        assertEquals(faults.map((fault) => fault.message), [message]);
      } finally {
        store.close();
      }
    });
  },
);
