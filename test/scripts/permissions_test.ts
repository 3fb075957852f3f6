/** The permissions of the tasks of deno.json, probed by real processes in a copy of the project. */

import { globSync } from "node:fs";
import { assertEquals } from "@std/assert";
import { COMMANDS } from "../../scripts/commands.ts";
import { expectTask, expectTaskFails, runTask, spawnTask } from "../support/run_task.ts";
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
    const modules = globSync("scripts/*/command.ts", { cwd: project })
      .map((module) => module.replace("dev/command", "dev/dev_server"));
    for (const module of modules) await Deno.copyFile(probe, `${project}/${module}`);
    const allowed = async (name: string, env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runTask([name], { kvPath: "", project, env });
      assertEquals([name, code], [name, 0], stderr);
      return JSON.parse(stdout);
    };
    const ofBoth = ["read a file", "write a file", "listen", "connect", "read KV_PATH"];
    const user = "read the user's name";
    const ofCommand = [...ofBoth, user];
    const ofService = [...ofBoth, "read CORS_ORIGINS", "read the size of a disk", user];
    for (const name of COMMAND_NAMES) assertEquals([name, await allowed(name)], [name, ofCommand]);
    assertEquals(await allowed("start"), ofService);
    // Without the signal, it would run until the next change.
    assertEquals(JSON.parse(await firstLineOfDev(project)), ofService);
    const variables = ["read KV_PATH", "read CORS_ORIGINS", "read HOME"];
    const ofSupervisor = [
      "read a file",
      "listen",
      "connect",
      "run a program",
      ...variables,
      user,
    ];
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

/** Starts `deno task dev`, and resolves to its first line, after which it is stopped by SIGTERM. */
async function firstLineOfDev(project: string): Promise<string> {
  const process = spawnTask(["dev"], { env: ENV, kvPath: "", project });
  const { promise: first, resolve } = Promise.withResolvers<string>();
  const reading = [readLines(process.stdout, resolve), readLines(process.stderr, () => {})];
  const line = await first;
  process.kill("SIGTERM");
  assertEquals((await process.status).code, 0);
  await Promise.all([process.stdin.close(), ...reading]);
  return line;
}
