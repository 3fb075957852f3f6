/**
 * Adds a field of a pet, or a status, in a copy of the project, which is the newer version. This checkout is the older one:
 * it must refuse what it does not know, name the version that does, and never advise to throw it away.
 */

import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../../src/application.ts";
import { fetchFrom } from "../../support/fetch_from.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { decodeEvent, NewerVersionError } from "../../../src/eventstore_less/log/event.ts";
import { adviceFor } from "../../../scripts/audit/advice.ts";
import { linesOfRecords } from "../../../src/eventstore_less/tools/verify/audit.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { createService, type Service } from "../../../src/service.ts";
import { KvStore } from "../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { addFields } from "../../support/add_fields.ts";
import { editFile } from "../../support/edit_file.ts";
import { type FaultyStore, faultyStore } from "../../support/faulty_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { expectTask, runTask } from "../../support/run_task.ts";
import { linesToBytes } from "../../support/sample_log.ts";
import { importFromCopy, withProjectCopy } from "../../support/with_project_copy.ts";
import { commit } from "../../support/store_contract.ts";

const testProcess = testNeeding(PROCESSES);

/** A name that no field and no status has. */
const ADDED = "nameOfTest";

/** The release of what is added, which is the schema version of a line with it. No other release is later. */
const NEWER = "99.1";

const REX = { name: "Rex", categoryId: 1 };
const MAX = { name: "Max", categoryId: 2 };
const PIP = { name: "Pip", categoryId: 3 };

/** A request by which the newer version stores a line, and the schema of that line. */
type Request = [method: string, path: string, body: unknown, schema?: string];

interface Addition {
  what: "field" | "status";
  /** Adds it to a copy of the project. */
  add: (project: string) => Promise<void>;
  requests: Request[];
}

/** Requests that store what was added with a change and an addition, and take it away again. */
function requestsWith(change: object, addition: object, removal: object): Request[] {
  return [
    ["POST", "/v1/pets", { ...REX, status: "available" }, "pet-created:1"],
    ["PATCH", "/v1/pets/1", { status: "pending" }, "pet-updated:1"],
    ["PATCH", "/v1/pets/1", change, `pet-updated:${NEWER}`],
    ["POST", "/v1/pets", { ...MAX, ...addition }, `pet-created:${NEWER}`],
    ["PATCH", "/v1/pets/1", removal, `pet-updated:${NEWER}`],
    // The older version could read this line, but not check it.
    ["PATCH", "/v1/pets/1", { status: "available" }, "pet-updated:1"],
    ["POST", "/v1/pets", PIP, "pet-created:1"],
  ];
}

const FIELD: Addition = {
  what: "field",
  add(project) {
    const schema = 'text(50, "A field of a test").optional()';
    return addFields(project, `${ADDED}: { schema: ${schema}, release: "${NEWER}" },`);
  },
  requests: requestsWith(
    { [ADDED]: "red", status: "sold" },
    { [ADDED]: `"${ADDED}":2` },
    { [ADDED]: null },
  ),
};

const STATUS: Addition = {
  what: "status",
  add(project) {
    return editFile(`${project}/events/pet.ts`, [
      ["] as const", `, "${ADDED}"] as const`],
      ["Record<PetStatus, string>> = {", `Record<PetStatus, string>> = { ${ADDED}: "${NEWER}",`],
    ]);
  },
  requests: requestsWith({ status: ADDED }, { status: ADDED }, { status: "sold" }),
};

interface Newer {
  folder: string;
  kvPath: string;
  store: FaultyStore;
  lines: string[];
  schemas: string[];
  /** Sends a request to an instance of the older version, which still runs on the store. */
  sendToOlder: Send;
}

type ServiceModule = typeof import("../../../src/service.ts");

const SERVICE = "src/service.ts";

type Send = (method: string, path: string, body?: unknown) => Promise<Response>;

/** Declares a test with a store in which the newer version has stored what was added. */
function test(
  { what, add, requests }: Addition,
  name: string,
  use: (newer: Newer) => Promise<void> | void,
): void {
  testProcess(`A newer version adds a ${what}: ${name}`, () => {
    return withProjectCopy(async (project) => {
      await add(project);
      await withNewer(project, requests, use);
    });
  });
}

async function withNewer(
  project: string,
  requests: Request[],
  use: (newer: Newer) => Promise<void> | void,
) {
  const { createService: createNewer } = await importFromCopy<ServiceModule>(project, SERVICE);
  const folder = `${project}/store`;
  await Deno.mkdir(folder);
  const kvPath = `${folder}/pets.sqlite3`;
  const store = faultyStore(new KvStore(await Deno.openKv(kvPath), HEAD_KEY));
  try {
    const options = { store, runtime: systemRuntime, report: () => {} };
    const [older, newer] = [createService(options), createNewer(options)];
    const { token } = await issueApiKey(older, { label: "test" });
    const sendTo = ({ handler }: Service): Send => (method, path, body) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
      return fetchFrom(handler)(new Request(`http://localhost${path}`, init));
    };
    const sendToNewer = sendTo(newer);
    for (const [method, path, body] of requests) {
      const response = await sendToNewer(method, path, body);
      assertEquals(response.ok, true, await response.text());
    }
    const lines = await readLines(store);
    const schemas = lines.map((line) => JSON.parse(line).dataschema);
    const parts = { folder, kvPath, store, lines, schemas };
    await use({ ...parts, sendToOlder: sendTo(older) });
  } finally {
    store.close();
  }
}

async function readLines(store: FaultyStore): Promise<string[]> {
  const lines = (await Array.fromAsync(linesOfRecords(store))).flat();
  return lines.map((line) => new TextDecoder().decode(line));
}

for (const addition of [FIELD, STATUS]) {
  const { requests } = addition;

  test(
    addition,
    "exactly the lines with it have the new version of their schema, and an older version that runs refuses the store",
    async ({ lines, schemas, sendToOlder }) => {
      assertEquals(
        schemas.slice(1),
        requests.map(([, , , schema]) => `urn:animal-store:${schema}`),
      );
      for (const [index, line] of lines.entries()) {
        if (!schemas[index].endsWith(`:${NEWER}`)) decodeEvent(APPLICATION, line);
        else {
          const words = `its schema ${schemas[index]} needs release ${NEWER}`;
          assertThrows(() => decodeEvent(APPLICATION, line), NewerVersionError, words);
        }
      }
      for (const [method, body] of [["GET"], ["POST", REX]] as const) {
        const response = await sendToOlder(method, "/v1/pets", body);
        assertEquals([response.status, (await response.json()).code], [503, "store_unavailable"]);
      }
    },
  );
}

test(
  FIELD,
  "each command of an older version refuses the store, and names the newer one",
  async (newer) => {
    const { folder, kvPath, store, lines } = newer;
    const before = await store.get(HEAD_KEY);
    await Deno.writeFile(`${folder}/export`, linesToBytes(lines));
    const key = `${folder}/../key`;
    await expectTask(["publish", "--new-key", key], { kvPath });
    const commands = "start,keys list,keys issue --label x,log,log --follow,replay," +
      `audit,backup ${folder}/export,restore ${folder}/export,` +
      `publish ${folder}/../published --key ${key} --origin log.example`;
    for (const command of commands.split(",")) {
      const args = command.split(" ");
      const { code, stdout, stderr } = await runTask(args, { kvPath, env: { PORT: "0" } });
      assertEquals([code === 0, stdout], [false, ""], command);
      const words = args[0] === "restore"
        ? `Line 4: A newer release wrote the line: its schema ${
          newer.schemas[3]
        } needs release ${NEWER}`
        : `its log has events of the newer release ${NEWER}, such as urn:animal-store:pet-`;
      assertStringIncludes(stderr, words, command);
    }
    assertEquals(await store.get(HEAD_KEY), before);
  },
);

test(
  FIELD,
  "an older version never advises to cut the lines with it, and does not do it",
  async (newer) => {
    const { folder, kvPath, store, lines, schemas } = newer;
    const path = `${folder}/export`;
    await Deno.writeFile(path, linesToBytes(lines));
    await commit(store, [{ type: "delete", key: HEAD_KEY }]);
    const newerLines = schemas.filter((schema) => schema.endsWith(`:${NEWER}`));
    for (const args of [["--file", path], []]) {
      const { code, stdout } = await runTask(["audit", "--json", ...args], { kvPath });
      const { counts, advice } = JSON.parse(stdout);
      assertEquals([code, counts.newer_line, counts.line], [1, newerLines.length, undefined]);
      const [[urgent, text]] = Object.entries<string>(advice);
      assertEquals([urgent, text], ["newer_line", adviceFor("newer_line", 0, { isExport: true })]);
    }
    assertEquals(await expectTask(["log", "--recover"], { kvPath }), `${lines.join("\n")}\n`);
  },
);
