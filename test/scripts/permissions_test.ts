/** The permissions of the tasks of deno.json, probed by real processes in a copy of the project. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { COMMANDS } from "../../scripts/cli/commands.ts";
import { freePort } from "../support/free_port.ts";
import {
  expectTask,
  expectTaskFails,
  type Outcome,
  runTask,
  spawnTask,
} from "../support/run_task.ts";
import { readLines } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { withProjectCopy } from "../support/with_project_copy.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const { start: _start, dev: _dev, ...OTHERS } = COMMANDS;
const COMMAND_NAMES = Object.keys(OTHERS);
const ENV = { HOST: "127.0.0.1", PORT: "0" };

test("no program can run others, load libraries, write the project's sources, or read variables that it does not name", () =>
  withProjectCopy(async (project) => {
    const probe = new URL("./permission_probe.ts", import.meta.url);
    const modules = [
      ...["start/main.ts", "dev/dev_server.ts"],
      ...COMMAND_NAMES.map((name) => `${name}/main.ts`),
    ];
    for (const module of modules) await Deno.copyFile(probe, `${project}/scripts/${module}`);
    const allowed = async (name: string, env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runTask([name], { kvPath: "", project, env });
      assertEquals([name, code], [name, 0], stderr);
      return JSON.parse(stdout);
    };
    const ofCommand = ["read a file", "write a file", "listen", "connect", "read KV_PATH"];
    const ofService = [...ofCommand, "read CORS_ORIGINS", "read the size of a disk"];
    for (const name of COMMAND_NAMES) assertEquals([name, await allowed(name)], [name, ofCommand]);
    assertEquals(await allowed("start"), ofService);
    // Without the signal, it would run until the next change.
    assertEquals(
      await withFirstLine(["dev", "stdout"], { kvPath: "", project }, JSON.parse),
      ofService,
    );
    const variables = ["read KV_PATH", "read CORS_ORIGINS", "read HOME"];
    const ofSupervisor = ["listen", "connect", "run a program", ...variables];
    assertEquals(await allowed("start", { PROCESSES: "2" }), ofSupervisor);
  }));

test("a path among the sources gets one line, which names it", async () => {
  await using temp = await TempStore.make();
  const options = { kvPath: temp.kvPath, env: ENV };
  const denied = (path: string) =>
    `Requires write access to "${path}", which this command does not have\n$`;
  await expectTask(["keys", "issue", "--label", "x"], options);
  await expectTaskFails(
    2,
    RegExp(`^error: ${denied("src/b.jsonl")}`),
    ["backup", "src/b.jsonl"],
    options,
  );
  for (const args of [["start"], ["keys", "issue", "--label", "x"]]) {
    const reason = `^error: Cannot open the store src/pets (KV_PATH): ${denied("src/pets")}`;
    await expectTaskFails(2, RegExp(reason.replace(/[()]/g, "\\$&")), args, {
      ...options,
      kvPath: "src/pets",
    });
  }
});

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
