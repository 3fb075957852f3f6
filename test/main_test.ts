import { sha256Hex } from "eventstore-less/parts";
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertGreater, assertMatch, assertRejects } from "@std/assert";
import { issueApiKey, revokeApiKey, rotateApiKey } from "../src/keys/write_api_key.ts";
import { listApiKeys } from "../src/keys/api_key_reader.ts";
import { buildCommit } from "this-runtime/build_commit.ts";
import { VERSION } from "../src/settings/version.ts";
import { expectTaskFails, runTask, spawnTask } from "./support/run_task.ts";
import { readLines, ServiceProcess } from "./support/service_process.ts";
import { TempStore } from "./support/temp_store.ts";
import { withProjectCopy } from "./support/with_project_copy.ts";
import { PROCESSES, testNeeding } from "./support/test_needing.ts";
import { clientOf } from "./support/test_service.ts";

const test = testNeeding(PROCESSES);

const STOPS: [signal: Deno.Signal, target: string, processes: number][] = [
  ["SIGTERM", "one process", 1],
  ["SIGINT", "its process group", 1],
  ["SIGTERM", "the supervisor of three", 3],
];

for (const [signal, target, count] of STOPS) {
  test(`start: serves until ${signal} to ${target}, which ends every process`, async () => {
    await using temp = await TempStore.make();
    const token = await temp.issueApiKey();
    const env = { PORT: "0", HOST: "127.0.0.1", PROCESSES: `${count}` };
    const process = spawnTask(["start"], { kvPath: temp.kvPath, env, detached: true });
    const events: string[] = [];
    const { promise: listening, resolve: onListening } = Promise.withResolvers<number>();
    const reading = readLines(process.stderr, (line) => {
      const report = JSON.parse(line);
      events.push(report.event);
      if (report.event === "listening" && events.length === count) onListening(report.port);
    });
    const port = await listening;
    const client = clientOf(token, (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init));
    const created = await client.add({ name: "Rex", categoryId: 1 });
    const pet = '{"id":1,"name":"Rex","categoryId":1}';
    assertEquals([created.status, await created.text()], [201, pet]);
    Deno.kill(target === "its process group" ? -process.pid : process.pid, signal);
    // Standard error closes when the last process that inherited it ends.
    await reading;
    const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
    await assertRejects(connect, Deno.errors.ConnectionRefused);
    assertEquals((await process.status).code, 0);
    const logged = ["listening", "shutting_down", "stopped"];
    assertEquals(events.sort(), logged.flatMap((event) => Array(count).fill(event)));
    assertEquals(await new Response(process.stdout).text(), "");
    await process.stdin.close();
  });
}

test("start: one line says what is served, and warnings if the store is new or has no live key", async () => {
  await using temp = await TempStore.make();
  const startOn = async (kvPath: string) => {
    await using service = await ServiceProcess.start(kvPath);
    assertEquals(await service.stop(), 0);
    return service.lines.map((line) => JSON.parse(line));
  };
  const isCheckout = buildCommit() !== undefined;
  const store = { version: VERSION, store: temp.kvPath, format: 7 };
  const served = (lines: Record<string, unknown>[]) => {
    const { time: _, hostname, port, level, event, commit, ...rest } = lines[0];
    if (isCheckout) assertMatch(`${commit}`, /^[0-9a-f]{12}(?:-changed)?$/);
    assertEquals([hostname, level, event], ["127.0.0.1", "info", "listening"]);
    assertGreater(Number(port), 0);
    return rest;
  };
  const warnings = (lines: Record<string, unknown>[]) =>
    lines.filter(({ level }) => level === "warn").map(({ event }) => event);

  const made = await startOn(temp.kvPath);
  const empty = { events: 0, pets: 0, liveKeys: 0 };
  assertEquals(served(made), { ...store, state: "made", ...empty });
  assertEquals(warnings(made), ["store_made", "no_live_key"]);
  assertMatch(made[2].remedy, /^deno task keys issue /);
  assertEquals(warnings(await startOn(temp.kvPath)), ["store_empty", "no_live_key"]);

  const token = await temp.issueApiKey();
  await temp.use(async (operator) => {
    const [{ id }] = await listApiKeys(operator.store, (await operator.heads.fresh()).head);
    await rotateApiKey(operator, id, { overlapMs: 3_600_000 });
    const { id: revoked } = await issueApiKey(operator, { label: "revoked" });
    await revokeApiKey(operator, revoked);
  });
  await using service = await ServiceProcess.start(temp.kvPath);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  await service.stop();
  const opened = await startOn(temp.kvPath);
  const contents = { events: 6, pets: 1, liveKeys: 2 };
  assertEquals(served(opened), { ...store, state: "opened", ...contents });
  assertEquals(warnings(opened), []);
});

test("start: without NEW_STORE=make, a store that is missing or has no events is refused, and stays as it is", async () => {
  await using temp = await TempStore.make();
  const { folder, kvPath } = temp;
  const fails = (reason: string, path: string) => {
    const advice =
      "; if there should be data, correct the setting, or mount the disk of the store; if not, make the store with " +
      "deno task keys issue --label TEXT, or restore";
    const line = `error: Cannot open the store ${path} (KV_PATH): ${reason}${advice}\n`;
    const env = { PORT: "0", NEW_STORE: "" };
    return expectTaskFails(2, RegExp(`^${RegExp.escape(line)}$`), ["start"], { kvPath: path, env });
  };
  await fails("there is no such file", kvPath);
  await fails("there is no such file", `${folder}/unmounted/pets.sqlite3`);
  await Deno.writeTextFile(kvPath, "");
  await fails("it is empty", kvPath);
  assertEquals((await Deno.stat(kvPath)).size, 0);
  assertEquals(await Array.fromAsync(Deno.readDir(folder), ({ name }) => name), ["pets.sqlite3"]);
  await temp.use(async () => {});
  await fails("it has no events", kvPath);
  await temp.issueApiKey();
  for (const NEW_STORE of ["", "refuse"]) {
    await using service = await ServiceProcess.start(kvPath, { NEW_STORE });
    assertEquals(await service.stop(), 0);
  }
});

test("start: only the folder of the default store is created", () =>
  withProjectCopy(async (project) => {
    const issue = ["keys", "issue", "--label", "x"];
    const { code, stderr } = await runTask(issue, { kvPath: "", project });
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /^Made a new store: \.data\/pets\.sqlite3 \(KV_PATH\)\nIssued key /);
    const mistyped = { kvPath: "dta/pets.sqlite3", project };
    for (const args of [["start"], issue, ["restore", "-"]]) {
      const noFolder =
        /its folder does not exist; correct the path, or make the folder as root: install -d -o \S+ -m 700 \S+\n$/;
      await expectTaskFails(2, noFolder, args, mistyped);
    }
    const names = await Array.fromAsync(Deno.readDir(project), ({ name }) => name);
    assert(!names.includes("dta"));
  }));

/** Settings that the service refuses, with the only line of standard error. `DIR` is a temporary folder, `USED` a port. */
const REFUSED: [env: Record<string, string>, line: string][] = [
  [{ HOST: "192.0.2.1" }, "Cannot listen on 192.0.2.1:0 \\(HOST, PORT\\): .*"],
  [
    { HOST: "127.0.0.1", PORT: "USED" },
    "Cannot listen on 127.0.0.1:USED \\(HOST, PORT\\): the port is in use; set PORT to another",
  ],
  [
    { METRICS_PORT: "USED" },
    "Cannot listen on 127.0.0.1:USED \\(METRICS_HOST, METRICS_PORT\\): .*; set METRICS_PORT to another",
  ],
  ...Object.entries({
    "": "it is a folder",
    "/notes.txt": "it is damaged, or not a store: file is not a database; .*",
    "/other.sqlite3": "it is a database of another program",
    "/no_head.sqlite3": "its head record is missing; .*",
  }).map(([path, reason]): [Record<string, string>, string] => [
    { KV_PATH: `DIR${path}` },
    `Cannot open the store DIR${path} \\(KV_PATH\\): ${reason}`,
  ]),
];

test("start: a wrong setting or store exits 2 with one line that says why, and changes no file", async () => {
  await using temp = await TempStore.make();
  const { folder } = temp;
  await Deno.writeTextFile(`${folder}/notes.txt`, "Rex, Max and Zoë\n");
  const other = new DatabaseSync(`${folder}/other.sqlite3`);
  other.exec("create table pet (name text)");
  other.close();
  {
    using kv = await Deno.openKv(`${folder}/no_head.sqlite3`);
    await kv.set(["~log", 1], new Uint8Array(1));
  }
  const before = await filesIn(folder);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const named = (text: string) =>
    text.replace("DIR", folder).replace("USED", `${listener.addr.port}`);
  for (const [settings, line] of REFUSED) {
    const { KV_PATH = ":memory:", ...env } = settings;
    const options = { PORT: "0", ...env };
    const { code, stdout, stderr } = await runTask(["start"], {
      kvPath: named(KV_PATH),
      env: Object.fromEntries(
        Object.entries(options).map(([name, value]) => [name, named(value)]),
      ),
    });
    const errors = stderr.split(/(?<=\n)/).filter((it) => !it.includes('"event":"listening"'));
    assertMatch(errors.join(""), new RegExp(`^error: ${named(line)}\n$`));
    assertEquals([code, stdout, errors.length], [2, "", 1]);
  }
  assertEquals(await filesIn(folder), before);
});

/** The name of each file in a folder, and the hash of its content, but for the files that SQLite adds. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return await Promise.all(
    names.filter((name) => !/-(shm|wal)$/.test(name)).sort().map(async (name) =>
      `${name} ${sha256Hex(await Deno.readFile(`${folder}/${name}`))}`
    ),
  );
}
