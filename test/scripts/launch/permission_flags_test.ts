/** The permissions of the tasks of deno.json, probed by real processes in a copy of the project. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import { COMMANDS } from "../../../scripts/launch/commands.ts";
import { permissionFlags } from "../../../scripts/launch/permission_flags.ts";
import { freePort } from "../../support/free_port.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { type Outcome, runTask, spawnTask } from "../../support/run_task.ts";
import { readLines } from "../../support/service_process.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

const { start: _start, dev: _dev, ...OTHERS } = COMMANDS;
const TOOLS = Object.keys(OTHERS);
const STORE = ["read the store", "write the store"];
const ENV = {
  HOST: "127.0.0.1",
  PORT: PROCESSES.isMet ? String(freePort()) : "0",
  DENO_KV_ACCESS_TOKEN: "test",
};

test("every program can access only its store, its port and the files of its arguments", () =>
  withProjectCopy(async (project) => {
    await replaceProgramsByProbe(project);
    await Deno.mkdir(`${project}/exports`);
    await Deno.writeTextFile(`${project}/exports/log.jsonl`, "");
    const allowed = async (args: string[], kvPath = "") => {
      const { code, stdout, stderr } = await runTask(args, { kvPath, project, env: ENV });
      assertEquals([args, code], [args, 0], stderr);
      return JSON.parse(stdout);
    };
    const elsewhere = `${project}/../elsewhere/pets.sqlite3`;
    const address = "http://127.0.0.1:1";
    for (const tool of TOOLS) assertEquals([tool, await allowed([tool])], [tool, STORE]);
    // The store's permissions depend on its path, not on the tool.
    for (const kvPath of ["", "other/pets.sqlite3", elsewhere]) {
      assertEquals(await allowed(["start"], kvPath), [...STORE, "listen"]);
    }
    // Without the signal, it would run until the next change.
    const inDev = await withFirstLine(["dev", "stdout"], { kvPath: "", project }, JSON.parse);
    assertEquals(inDev, [...STORE, "listen"]);
    const database = "postgres://me@db.example,127.0.0.1:1/pets";
    const certified = `${database}?sslmode=verify-full&sslrootcert=exports/log.jsonl`;
    const [exported, connects] = ["read the export", "connect to the store"];
    const written = "write the checkpoint";
    const file = "exports/log.jsonl";
    const cases: [args: string, names: string[], kvPath?: string][] = [
      ["start", ["listen"]],
      ["log", []],
      ["start", ["listen", connects], address],
      ["log", [connects], address],
      ["start", ["listen", connects], database],
      ["log", [exported, connects], certified],
      [`restore ${file}`, [exported]],
      [`audit --file ${file}`, [exported]],
      ["audit --checkpoint=checkpoints/c.json", [written]],
      ["audit --published exports", [exported]],
      ["publish --new-key checkpoints/probe.txt", [written]],
      [`publish --key ${file} checkpoints`, [exported, written]],
      [
        "publish checkpoints --witness http://127.0.0.1:9/w --entries",
        [written, "connect elsewhere"],
      ],
      [`publish --from-file ${file}`, [exported]],
      ["prove pets/7 --published exports", [exported]],
      [`prove --consistency ${file}`, [exported]],
      ["backup checkpoints/probe.txt --follow", [written]],
      ["prove 1 --line checkpoints/probe.txt", [written]],
    ];
    // A program cannot write its own sources, also with a store or a checkpoint in the project.
    const inProject = ["read the source", "write the project", ...STORE, exported, written];
    cases.push(["start", [...inProject, "listen"], "pets.sqlite3"]);
    cases.push(["start", [...inProject, "listen"], "a,b/pets.sqlite3"]);
    cases.push(["audit --checkpoint checkpoint.json", inProject, ""]);
    for (const [args, names, kvPath = ":memory:"] of cases) {
      assertEquals([args, await allowed(args.split(" "), kvPath)], [args, names]);
    }
  }));

test("every task works with its permissions, wherever the store file is", () =>
  withProjectCopy(async (project) => {
    const parent = `${project}/..`;
    await Deno.mkdir(`${parent}/a b, c`);
    await Deno.mkdir(`${parent}/keys`);
    const kvPath = `${parent}/a b, c/pets.sqlite3`;
    const run = async (args: string[], store = kvPath, stdin?: Uint8Array) => {
      const outcome: Outcome = await runTask(args, { kvPath: store, project, stdin });
      assertEquals([store, args, outcome.code], [store, args, 0], outcome.stderr);
      return outcome.stdout;
    };
    const token = (await run(["keys", "issue", "--label", "x"])).trim();
    const env = { ...ENV, METRICS_PORT: String(freePort()) };
    await withFirstLine(["start", "stderr"], { kvPath, project, env }, async (line) => {
      assert(line.includes('"listening"'), line);
      const url = `http://127.0.0.1:${JSON.parse(line).port}`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = '{"name":"Rex","categoryId":1}';
      const added = await fetch(`${url}/v1/pets`, { method: "POST", headers, body });
      assertEquals([added.status, await added.text()], [201, `{"id":1,${body.slice(1)}`]);
      for (const path of ["/docs", "/openapi.json"]) {
        const response = await fetch(`${url}${path}`);
        await response.body?.cancel();
        assertEquals(response.status, 200);
      }
      const metrics = await fetch(`http://127.0.0.1:${env.METRICS_PORT}/metrics`);
      assertMatch(await metrics.text(), /^animal_store_disk_free_bytes \d/m);
    });
    const log = await run(["log"]);
    await run(["replay", "--grace", "0"]);
    const checkpoint = `${parent}/a b, c/checkpoint.json`;
    assertMatch(await run(["audit", "--checkpoint", checkpoint]), /^Sound: 2 events, 1 pet\./);
    const [signingKey, published] = [`${parent}/keys/k`, `${parent}/log`];
    await run(["publish", "--new-key", signingKey]);
    await run(["publish", published, "--key", signingKey, "--origin", "log.example"]);
    await run(["prove", "pets/1", "--published", published, "--line", `${published}.line`]);
    const exported = `${parent}/a b, c/log.jsonl`;
    await run(["backup", exported]);
    assertEquals(await Deno.readTextFile(exported), log);
    // The store may also be in the folder of the project.
    for (const [source, copy] of [[exported, "copy.sqlite3"], ["-", `${kvPath}.copy`]]) {
      const stdin = source === "-" ? new TextEncoder().encode(log) : undefined;
      await run(["restore", source], copy, stdin);
      assertEquals(await run(["log"], copy), log);
      assertMatch(await run(["audit", "--file", exported], copy), /^Sound: 2 events, 1 pet\./);
    }
  }));

test("permissionFlags() leaves it to the command to report a path that cannot be looked at", () => {
  // Below a file, and too long.
  for (const path of ["deno.json/log.jsonl", "a".repeat(300)]) {
    assert(permissionFlags("restore", [path]).some((flag) => flag.includes(path)), path);
  }
});

test("permissionFlags() grants the metrics of every process their ports, and the size of the disk", () => {
  const variables: Record<string, string> = { METRICS_PORT: "9464", PROCESSES: "2" };
  using _ = stub(Deno.env, "get", (name) => variables[name]);
  const flags = permissionFlags("start", []);
  assert(flags.includes("--allow-net=127.0.0.1:9464,127.0.0.1:9465,0.0.0.0:8000"), `${flags}`);
  assert(flags.includes("--allow-sys=statfs"));
});

async function replaceProgramsByProbe(project: string): Promise<void> {
  const probe = new URL("./permission_probe.ts", import.meta.url);
  const programs = [
    "src/main.ts",
    "scripts/dev/dev_server.ts",
    ...TOOLS.map((tool) => `scripts/${tool}/main.ts`),
  ];
  for (const program of programs) await Deno.copyFile(probe, `${project}/${program}`);
}

/** Starts a task, calls `use` with its first line on a stream, and then stops it by SIGTERM. */
async function withFirstLine<T>(
  [task, stream]: ["dev", "stdout"] | ["start", "stderr"],
  options: { kvPath: string; project: string; env?: Record<string, string> },
  use: (line: string) => T | Promise<T>,
): Promise<T> {
  const process = spawnTask([task], { env: ENV, ...options });
  const { promise: first, resolve } = Promise.withResolvers<string>();
  const reading = (["stdout", "stderr"] as const).map((it) =>
    readLines(process[it], it === stream ? resolve : () => {})
  );
  try {
    return await use(await first);
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.status).code, 0);
    await Promise.all([process.stdin.close(), ...reading]);
  }
}
