/**
 * Adds a field of a pet as test/README.md says, in a copy of the project, which is the newer version. This checkout is
 * the older one: it must refuse what it does not know, and never advise to throw it away.
 */

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { decodeEvent, NewerVersionError } from "../../events/event.ts";
import { ADDED_FIELDS } from "../../events/pet.ts";
import { ACTIONS } from "../../scripts/verify/advice.ts";
import { linesOfRecords } from "../../scripts/verify/audit.ts";
import { issueKey } from "../../src/keys/write_key.ts";
import { HEAD_KEY } from "../../src/keyspace.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { createService, type Service } from "../../src/service.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { test as testProcess } from "../support/test_processes.ts";
import { expectTask, expectTaskFails, runTask } from "../support/run_task.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { withProjectCopy } from "../support/with_project_copy.ts";

/** A name that no field has, because the field of the guide may have been added to this checkout. */
const FIELD = "fieldOfTest";

/** The schema version of a line with that field. */
const NEWER = ADDED_FIELDS.length + 2;

const MAX = { name: "Max", categoryId: 2 };

/** The requests by which the newer version stores lines, and the schema of each line. */
const REQUESTS: [method: string, path: string, body: unknown, schema?: string][] = [
  ["POST", "/v1/pets", { name: "Rex", categoryId: 1, status: "available" }, "pet-created:1"],
  ["PATCH", "/v1/pets/1", { status: "pending" }, "pet-updated:1"],
  ["PATCH", "/v1/pets/1", { [FIELD]: "red", status: "sold" }, `pet-updated:${NEWER}`],
  ["POST", "/v1/pets", { ...MAX, [FIELD]: `"${FIELD}":2` }, `pet-created:${NEWER}`],
  ["PATCH", "/v1/pets/1", { [FIELD]: null }, `pet-updated:${NEWER}`],
  // The older version could read this line, but not check it.
  ["PATCH", "/v1/pets/1", { status: "available" }, "pet-updated:1"],
  ["POST", "/v1/pets", { name: "Pip", categoryId: 3 }, "pet-created:1"],
];

interface Newer {
  folder: string;
  kvPath: string;
  store: KvStore;
  lines: string[];
  /** Sends a request to an instance of the older version, which still runs on the store. */
  sendToOlder(method: string, path: string, body?: unknown): Promise<Response>;
}

/** Declares a test with a store in which the newer version has stored the field. */
function test(name: string, use: (newer: Newer) => Promise<void> | void): void {
  testProcess(name, () => withProjectCopy((project) => withNewer(project, use)));
}

async function withNewer(project: string, use: (newer: Newer) => Promise<void> | void) {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const [, field] = /`color(: .+)`/.exec(readme)!;
  const path = `${project}/events/pet.ts`;
  const source = await Deno.readTextFile(path);
  const [definition] = /export const NewPet = [^]*?(?=}\);)/.exec(source)!;
  await Deno.writeTextFile(path, source.replace(definition, `${definition}  ${FIELD}${field},\n`));
  const { createService: createNewer }: typeof import("../../src/service.ts") = await import(
    `file://${project}/src/service.ts`
  );

  const folder = `${project}/store`;
  await Deno.mkdir(folder);
  const kvPath = `${folder}/pets.sqlite3`;
  const store = new KvStore(await Deno.openKv(kvPath));
  try {
    const options = { store, runtime: systemRuntime, report: () => {} };
    const [older, newer] = [createService(options), createNewer(options)];
    const { token } = await issueKey(older, { label: "test" });
    const sendTo = ({ handler }: Service) => (method: string, path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
      return handler(new Request(`http://localhost${path}`, init));
    };
    for (const [method, path, body] of REQUESTS) {
      const response = await sendTo(newer)(method, path, body);
      assertEquals(response.ok, true, await response.text());
    }
    const lines = (await Array.fromAsync(linesOfRecords(store))).flat();
    const texts = lines.map((line) => new TextDecoder().decode(line));
    await use({ folder, kvPath, store, lines: texts, sendToOlder: sendTo(older) });
  } finally {
    store.close();
  }
}

test("A field that is added as the manual says makes a new version of both schemas, of exactly the lines with it", ({ lines }) => {
  const schemas = lines.slice(1).map((line) => JSON.parse(line).dataschema);
  assertEquals(schemas, REQUESTS.map(([, , , schema]) => `urn:animal-store:${schema}`));
  for (const [index, line] of lines.entries()) {
    if (!schemas[index - 1]?.endsWith(`:${NEWER}`)) decodeEvent(line);
    else assertThrows(() => decodeEvent(line), NewerVersionError, `${schemas[index - 1]} is not`);
  }
});

test("An older version refuses a store with a schema version that it does not know, also while it runs", async (newer) => {
  const { folder, kvPath, store, lines, sendToOlder } = newer;
  const before = await store.get(HEAD_KEY);
  const pet = { name: "Rex", categoryId: 1 };
  for (const [method, body] of [["GET"], ["POST", pet]] as const) {
    const response = await sendToOlder(method, "/v1/pets", body);
    assertEquals([response.status, (await response.json()).code], [503, "store_unavailable"]);
  }
  await Deno.writeFile(`${folder}/export`, linesToBytes(lines));
  const key = `${folder}/../key`;
  await expectTask(["publish", "--new-key", key], { kvPath });
  const commands =
    "start,keys list,keys issue --label x,log,log --follow,replay,replay --dry-run," +
    `audit,backup ${folder}/export,restore ${folder}/export,` +
    `publish ${folder}/../published --key ${key} --origin log.example`;
  for (const command of commands.split(",")) {
    const args = command.split(" ");
    const { code, stdout, stderr } = await runTask(args, { kvPath, env: { PORT: "0" } });
    assertEquals([code === 0, stdout], [false, ""], command);
    const isRestore = args[0] === "restore";
    const words = isRestore ? "Line 4: A newer version wrote" : "of a newer version; use that";
    assertStringIncludes(stderr, words, command);
  }
  assertEquals(await store.get(HEAD_KEY), before);
});

test("An older version never advises to cut lines that it does not know, and does not do it", async (newer) => {
  const { folder, kvPath, store, lines } = newer;
  const path = `${folder}/export`;
  await Deno.writeFile(path, linesToBytes(lines));
  await store.commit({ checks: [], mutations: [{ type: "delete", key: HEAD_KEY }] });
  for (const args of [["--file", path], []]) {
    const { code, stdout } = await runTask(["audit", "--json", ...args], { kvPath });
    const { counts, advice } = JSON.parse(stdout);
    const newerLines = lines.filter((line) => JSON.parse(line).dataschema.endsWith(`:${NEWER}`));
    assertEquals([code, counts.newer_line, counts.line], [1, newerLines.length, undefined]);
    const [[urgent, text]] = Object.entries<string>(advice);
    assertEquals([urgent, text], ["newer_line", ACTIONS.upgrade]);
  }
  const newerLine = /^error: Line 4: A newer version wrote the line/m;
  await expectTaskFails(1, newerLine, ["log", "--recover"], { kvPath });
});
