import { DatabaseSync } from "node:sqlite";
import {
  assert,
  assertEquals,
  assertGreater,
  assertLess,
  assertMatch,
  assertRejects,
} from "@std/assert";
import { issueKey } from "../src/commands/issue_key.ts";
import { revokeKey } from "../src/commands/revoke_key.ts";
import { rotateKey } from "../src/commands/rotate_key.ts";
import { listApiKeys } from "../src/projections/api_key_reader.ts";
import { VERSION } from "../src/settings/version.ts";
import { petKey, projectionKey } from "../src/keyspace.ts";
import { EMPTY_HEAD, encodeHead } from "../src/log/head.ts";
import { encodeKey } from "../src/store/key_encoding/key_encoding.ts";
import { permitted } from "./support/permitted.ts";
import { runTask, spawnTask } from "./support/run_task.ts";
import { countCommits } from "./support/count_commits.ts";
import { LoadClient } from "./support/load_client.ts";
import { readLines, ServiceProcess } from "./support/service_process.ts";
import { sampleLog } from "./support/sample_log.ts";
import { TempStore } from "./support/temp_store.ts";
import { withProjectCopy } from "./support/with_project_copy.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** An export of one event. */
const FIRST = `${sampleLog(1)[0]}\n`;

Deno.test({
  name: "start: serves with the permissions of its task, and exits 0 on SIGTERM",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    const env = { PORT: "0", HOST: "127.0.0.1" };
    const process = spawnTask(["start"], { kvPath: temp.kvPath, env });
    const { promise: port, resolve: onPort } = Promise.withResolvers<number>();
    const events: string[] = [];
    const reading = readLines(process.stderr, (line) => {
      const report = JSON.parse(line);
      events.push(report.event);
      if (report.event === "listening") onPort(report.port);
    });
    const url = `http://127.0.0.1:${await port}/v1/pets`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = '{"name":"Rex","categoryId":1}';
    const created = await fetch(url, { method: "POST", headers, body });
    assertEquals([created.status, await created.text()], [201, `{"id":1,${body.slice(1)}`]);
    const listed = await fetch(url, { headers });
    assertEquals([listed.status, await listed.text()], [200, `[{"id":1,${body.slice(1)}]`]);
    process.kill("SIGTERM");
    await process.stdin.close();
    assertEquals(await new Response(process.stdout).text(), "");
    await reading;
    assertEquals((await process.status).code, 0);
    assertEquals(events, ["listening", "shutting_down", "stopped"]);
  },
});

Deno.test({
  name:
    "start: a record that cannot be read is logged once as damage, and the service is not ready",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    {
      await using service = await ServiceProcess.start(temp.kvPath);
      assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    }
    const database = new DatabaseSync(temp.kvPath);
    const pet = encodeKey(projectionKey(1, petKey(1)));
    database.prepare("update kv set v_encoding = 9 where k = ?").run(pet);
    database.close();
    await using service = await ServiceProcess.start(temp.kvPath);
    const message = "The store's file is damaged";
    for (
      const [path, code] of [
        ["/v1/pets/1", "store_unavailable"],
        ["/v1/pets/1", "store_unavailable"],
        ["/readyz", "not_ready"],
      ]
    ) {
      const response = await service.send(path, token);
      assertEquals(await response.json(), { code, message, status: 503 });
    }
    await service.stop();
    const reports = service.lines.map((line) => JSON.parse(line));
    const [{ reason, remedy }, ...others] = reports.filter(({ level }) => level === "error");
    assertEquals([reason, others], ["The value encoding 9 is not one of the service", []]);
    assertMatch(remedy, /run deno task audit/);
    const audited = await runTask(["audit"], { kvPath: temp.kvPath });
    assertMatch(audited.stdout, /- The file of the store is damaged: .*unknown/);
    const recovered = await runTask(["log", "--recover"], { kvPath: temp.kvPath });
    assertEquals([recovered.code, recovered.stdout.split("\n").length], [0, 3]);
  },
});

Deno.test({
  name: "start: one line says what is served, and warnings if the store is new or has no live key",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const startOn = async (kvPath: string) => {
      await using service = await ServiceProcess.start(kvPath);
      assertEquals(await service.stop(), 0);
      return service.lines.map((line) => JSON.parse(line));
    };
    const store = { version: VERSION, store: temp.kvPath, format: 3 };
    const served = (lines: Record<string, unknown>[]) => {
      const { time: _, hostname, port, level, event, ...rest } = lines[0];
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
    const inMemory = await startOn(":memory:");
    assertEquals(warnings(inMemory), ["store_in_memory", "no_live_key"]);
    assertMatch(inMemory[2].remedy, /^With KV_PATH set to a file, deno task keys issue /);

    const token = await temp.issueKey();
    await temp.use(async (operator) => {
      const [{ id }] = await listApiKeys(operator.store, (await operator.heads.fresh()).head);
      await rotateKey(operator, id, { overlapMs: 3_600_000 });
      const { id: revoked } = await issueKey(operator, { label: "revoked" });
      await revokeKey(operator, revoked);
    });
    await using service = await ServiceProcess.start(temp.kvPath);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    await service.stop();
    const opened = await startOn(temp.kvPath);
    const contents = { events: 6, pets: 1, liveKeys: 2 };
    assertEquals(served(opened), { ...store, state: "opened", ...contents });
    assertEquals(warnings(opened), []);
  },
});

Deno.test({
  name: "start: only the folder of the default store is created",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      const { code, stderr } = await runTask(["keys", "issue", "--label", "x"], {
        kvPath: "",
        project,
      });
      assertEquals(code, 0, stderr);
      assertMatch(stderr, /^Made a new store: \.data\/pets\.sqlite3 \(KV_PATH\)\nIssued key /);
      const mistyped = { kvPath: "dta/pets.sqlite3", project };
      for (const args of [["start"], ["keys", "issue", "--label", "x"], ["restore", "-"]]) {
        const outcome = await runTask(args, {
          ...mistyped,
          stdin: new TextEncoder().encode(FIRST),
        });
        assertEquals([args, outcome.code], [args, args[0] === "start" ? 1 : 2]);
        assertMatch(outcome.stderr, /its folder does not exist; create it, or correct the path\n$/);
      }
      const names = await Array.fromAsync(Deno.readDir(project), ({ name }) => name);
      assert(!names.includes("dta"));
    }),
});

Deno.test({
  name: "start: 2,000 additions, 64 at a time, get the ids 1 to 2,000 in fewer than 500 commits",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const load = new LoadClient({
      services: () => [service],
      token,
      connections: 64,
      faults: "none",
    });
    await load.run(() => load.begun >= 2_000);
    assertEquals(await service.stop(), 0);
    assertEquals(load.acknowledged.size, 2_000);
    await temp.use(async (operator) => {
      await load.expectLogged(operator);
      assertLess(await countCommits(operator.store), 500);
    });
  },
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  for (const target of ["the task", "its process group"]) {
    Deno.test({
      name: `start: ${signal} to ${target} ends every process of the task within 5 seconds`,
      ignore: ignore || Deno.build.os === "windows",
      async fn() {
        await using temp = await TempStore.make();
        await temp.issueKey();
        const process = spawnTask(["start"], {
          kvPath: temp.kvPath,
          env: { PORT: "0", HOST: "127.0.0.1" },
          detached: target === "its process group",
        });
        const events: string[] = [];
        const { promise: listening, resolve: onListening } = Promise.withResolvers<number>();
        const reading = readLines(process.stderr, (line) => {
          const { event, port } = JSON.parse(line);
          events.push(event);
          if (event === "listening") onListening(port);
        });
        const port = await listening;
        const killed = performance.now();
        Deno.kill(target === "the task" ? process.pid : -process.pid, signal);
        const { code } = await process.status;
        // Standard error closes when the last process that inherited it ends.
        await reading;
        assertLess(performance.now() - killed, 5_000);
        const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
        await assertRejects(connect, Deno.errors.ConnectionRefused);
        const isClean = signal !== "SIGHUP";
        assertEquals(code, isClean ? 0 : 129);
        assertEquals(
          events,
          isClean ? ["listening", "shutting_down", "stopped"] : ["listening"],
        );
        await process.stdin.close();
        await process.stdout.cancel();
      },
    });
  }
}

Deno.test({
  name: "start: a setting that is not valid exits 1 with one line that names it",
  ignore,
  async fn() {
    const cases: [env: Record<string, string>, line: RegExp][] = [
      [{ PORT: "http" }, /^error: PORT must be a number from 0 to 65535, not "http"\n$/],
      [{ HOST: "192.0.2.1" }, /^error: Cannot listen on 192.0.2.1:0 \(HOST, PORT\): .*\n$/],
      [{ DENO_DEPLOYMENT_ID: "test" }, /^error: KV_PATH must not be set on Deno Deploy: .*\n$/],
    ];
    await Promise.all(cases.map(([env, line]) => assertRefuses(line, ":memory:", env)));
  },
});

Deno.test({
  name: "start: a port in use exits 1 with one line that says so",
  ignore,
  async fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    await assertRefuses(
      new RegExp(`^error: Cannot listen on 127.0.0.1:${port} \\(HOST, PORT\\): the port is in use`),
      ":memory:",
      { HOST: "127.0.0.1", PORT: String(port) },
    );
  },
});

Deno.test({
  name: "start: a path that cannot be a store exits 1 with one line that says why",
  ignore,
  async fn() {
    await using folder = await tempFolder();
    await Deno.writeTextFile(`${folder.path}/notes.txt`, "Rex, Max and Zoë\n");
    const cases: [path: string, reason: string][] = [
      [folder.path, "it is a folder"],
      [`${folder.path}/notes.txt`, "it is damaged, or not a store: file is not a database; .*"],
      [`${folder.path}/notes.txt/pets.sqlite3`, "Not a directory .*"],
      [`${folder.path}/notes.txt/folder/pets.sqlite3`, "Not a directory .*"],
      [
        `${folder.path}/mistyped/pets.sqlite3`,
        "its folder does not exist; create it, or correct the path",
      ],
    ];
    await Promise.all(cases.map(async ([path, reason]) => {
      await assertRefuses(credentialsError(path, reason), path);
    }));
    assertEquals(await Deno.readTextFile(`${folder.path}/notes.txt`), "Rex, Max and Zoë\n");
    assertEquals((await Array.fromAsync(Deno.readDir(folder.path))).length, 1);
  },
});

Deno.test({
  name: "start: the database of another program is refused, and not one byte of it changes",
  ignore,
  async fn() {
    await using folder = await tempFolder();
    const path = `${folder.path}/other.sqlite3`;
    makeDatabase(path, ["create table pet (name text)", "insert into pet values ('Rex')"]);
    const before = await Deno.readFile(path);
    await assertRefuses(credentialsError(path, "it is a database of another program"), path);
    assertEquals(await Deno.readFile(path), before);
    assertEquals((await Array.fromAsync(Deno.readDir(folder.path))).length, 1);
  },
});

Deno.test({
  name: "start: a store that was cut off is refused, and not one byte of it changes",
  ignore,
  async fn() {
    await using folder = await tempFolder();
    const whole = `${folder.path}/whole.sqlite3`;
    await writeKv(whole, ["head"], encodeHead(EMPTY_HEAD));
    const bytes = await Deno.readFile(whole);
    for (const length of [50, 4_096, bytes.length - 4_096]) {
      const path = `${folder.path}/cut_${length}.sqlite3`;
      await Deno.writeFile(path, bytes.subarray(0, length));
      await assertRefuses(credentialsError(path, ".*"), path);
      assertEquals(await Deno.readFile(path), bytes.subarray(0, length));
    }
  },
});

Deno.test({
  name: "start: a Deno KV database of another program is refused",
  ignore,
  async fn() {
    await using folder = await tempFolder();
    const [withoutHead, withOther, damaged] = ["a", "b", "c"]
      .map((it) => `${folder.path}/${it}.sqlite3`);
    await writeKv(damaged, ["~log", 1], new Uint8Array(1));
    await assertRefuses(credentialsError(damaged, "its head record is missing; .*"), damaged);
    await writeKv(withoutHead, ["users", 1], "Ann");
    await assertRefuses(
      credentialsError(withoutHead, "it holds the data of another program"),
      withoutHead,
    );
    await writeKv(withOther, ["head"], "of a list");
    await assertRefuses(
      credentialsError(withOther, "its head record is not one of Animal Store; .*"),
      withOther,
    );
  },
});

/** Asserts that `deno task start` exits by itself, with that last line of standard error. */
async function assertRefuses(
  line: RegExp,
  kvPath: string,
  env: Record<string, string> = {},
): Promise<void> {
  const outcome = await runTask(["start"], { kvPath, env: { PORT: "0", ...env } });
  const { code, stdout, stderr } = outcome;
  const errors = stderr.split(/(?<=\n)/).filter((it) => !it.includes('"event":"listening"'));
  assertMatch(errors.join(""), line);
  assertEquals([code, stdout, errors.length], [1, "", 1]);
}

function credentialsError(path: string, reason: string): RegExp {
  return new RegExp(`^error: Cannot open the store ${path} \\(KV_PATH\\): ${reason}\n$`);
}

function makeDatabase(path: string, statements: string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of statements) database.exec(statement);
  database.close();
}

async function writeKv(path: string, key: Deno.KvKey, value: unknown): Promise<void> {
  using kv = await Deno.openKv(path);
  await kv.set(key, value);
}

async function tempFolder() {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
