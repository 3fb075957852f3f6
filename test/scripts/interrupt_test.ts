/** Ctrl-C in a command ends it with a line that says what is left, and what to run next. */

import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decodeHeadRecord } from "../../src/eventstore_less/log/head.ts";
import { HEAD_KEY, REPLAY_KEY } from "../../src/eventstore_less/keyspace.ts";
import type { Key } from "../../src/eventstore_less/store/store.ts";
import { fillStore } from "../support/fill_store.ts";
import { ON_DENO } from "../support/programs.ts";
import { expectTask, type Outcome, outcomeOf, spawnTask } from "../support/run_task.ts";
import { linesToBytes, sampleLog } from "../support/sample_log.ts";
import { until } from "../support/until.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";

const test = testNeeding(PROCESSES);

/** Enough pets for a rebuild to be interrupted. */
const PETS = 10_000;

/** With the issue of a key. */
const EVENTS = PETS + 1;

/** Exit code of a command that SIGINT has interrupted. */
const INTERRUPTED = 130;

/** Sends SIGINT to a task and all its processes, as a terminal does. */
async function interrupt(task: Deno.ChildProcess): Promise<Outcome> {
  const outcome = outcomeOf(task);
  Deno.kill(-task.pid, "SIGINT");
  return await outcome;
}

/** Interrupts a task that waits for the rest of its standard input. */
async function interruptInInput(args: string[], kvPath: string, temporary: string) {
  const task = spawnTask(args, { kvPath, env: { TMPDIR: temporary }, detached: true });
  const writer = task.stdin.getWriter();
  // More than a pipe holds, so the task has read some of it.
  await writer.write(linesToBytes(sampleLog(3_000)));
  const outcome = await interrupt(task);
  await writer.close().catch(() => {});
  return outcome;
}

/** Resolves when a record of the store is as expected. */
function recordBecomes(kvPath: string, key: Key, isExpected: (value: unknown) => boolean) {
  return until(async () => {
    // Otherwise, this would make the file.
    await Deno.stat(kvPath);
    using kv = await Deno.openKv(kvPath);
    assert(isExpected((await kv.get(key as Deno.KvKey)).value));
  }, `The record ${key} is not as expected`);
}

test("Ctrl-C in audit, restore and publish, before they have written anything", async () => {
  await using temp = await TempStore.make();
  const kvPath = `${temp.folder}/store/pets.sqlite3`;
  await Deno.mkdir(`${temp.folder}/store`);
  const temporary = `${temp.folder}/tmp`;
  await Deno.mkdir(temporary);
  const key = `${temp.folder}/log.key`;
  await expectTask(["publish", "--new-key", key], { kvPath });
  const cases: [args: string[], line: RegExp][] = [
    [["audit", "--file", "-"], /^Interrupted\. The audit has no result, .*Run it again\.$/m],
    [["restore", "-"], /^Interrupted\. Nothing was written\. Run deno task restore again\.$/m],
    [
      [
        ...["publish", `${temp.folder}/published`, "--key", key],
        ...["--origin", "log.example", "--file", "-"],
      ],
      /^Interrupted\. What was published before is still complete\. Run the same command again\.$/m,
    ],
  ];
  for (const [args, line] of cases) {
    const { code, stdout, stderr } = await interruptInInput(args, kvPath, temporary);
    assertEquals([args, code, stdout], [args, INTERRUPTED, ""], stderr);
    assertMatch(stderr, line);
    assertEquals(Array.from(Deno.readDirSync(temporary)), [], "no copy of the input is left");
  }
});

testNeeding(PROCESSES, ON_DENO)(
  "Ctrl-C in a command that connects says whether something may have changed",
  async () => {
    const env = { DENO_KV_ACCESS_TOKEN: "x".repeat(32) };
    const mayHaveChanged = "Interrupted. deno task keys list shows whether a key was changed.";
    const cases: [args: string[], line: string][] = [
      [["keys", "list"], "Interrupted."],
      [["keys", "issue", "--label", "x"], mayHaveChanged],
    ];
    for (const [args, line] of cases) {
      // The server accepts connections, but never answers.
      using server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const kvPath = `http://127.0.0.1:${server.addr.port}`;
      const task = spawnTask(args, { kvPath, env, detached: true });
      using _connection = await server.accept();
      const { code, stdout, stderr } = await interrupt(task);
      await task.stdin.close();
      assertEquals([code, stdout], [INTERRUPTED, ""]);
      assertEquals(stderr.trimEnd().split("\n").at(-1), line);
    }
  },
);

test("Ctrl-C in replay, restore and log: the command that the line names continues", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await fillStore(kvPath, PETS);

  const filling = spawnTask(["replay"], { kvPath, detached: true });
  await recordBecomes(kvPath, REPLAY_KEY, (it) => it !== null);
  const inFill = await interrupt(filling);
  assertEquals(inFill.code, INTERRUPTED, inFill.stderr);
  const resumes =
    "The service reads complete projections. Run deno task replay again: it begins again.";
  assertStringIncludes(inFill.stderr, `Interrupted. ${resumes}\n`);
  const waiting = spawnTask(["replay", "--grace", "600"], { kvPath, detached: true });
  await Promise.all([waiting.stdin.close(), waiting.stdout.cancel()]);
  let inWait = "";
  for await (const chunk of waiting.stderr.pipeThrough(new TextDecoderStream())) {
    const isNew = !inWait.includes("Waiting:");
    inWait += chunk;
    if (isNew && inWait.includes("Waiting:")) Deno.kill(-waiting.pid, "SIGINT");
  }
  assertEquals((await waiting.status).code, INTERRUPTED, inWait);
  const isServed = "The rebuilt projections are served. The next replay removes the old ones.";
  assertStringIncludes(inWait, `Interrupted. ${isServed}\n`);

  // Nobody reads the output, so the command waits for a reader.
  const unread = spawnTask(["log"], { kvPath, detached: true });
  const reader = unread.stdout.getReader();
  assert(!(await reader.read()).done);
  reader.releaseLock();
  const inLog = await interrupt(unread);
  const [, to] = /^Interrupted after position (\d+) of 10001\. deno task log --from (\d+) prints/m
    .exec(inLog.stderr) ?? [];
  assertEquals([inLog.code, to !== undefined], [INTERRUPTED, true], inLog.stderr);

  const file = `${temp.folder}/pets.jsonl`;
  await expectTask(["backup", file], { kvPath });

  const copy = `${temp.folder}/copy.sqlite3`;
  const restoring = spawnTask(["restore", "--until", "1s", file], { kvPath: copy, detached: true });
  await recordBecomes(
    copy,
    HEAD_KEY,
    (it) => decodeHeadRecord(APPLICATION, it).kind === "restore_mark",
  );
  const inRestore = await interrupt(restoring);
  assertEquals(inRestore.code, INTERRUPTED, inRestore.stderr);
  const line =
    "Interrupted. The store is incomplete and refused. Run deno task restore again with " +
    `the same export and flags, but --to ${EVENTS} in place of --until: it resumes.`;
  assertEquals(inRestore.stderr.trimEnd().split("\n").at(-1), line);
  await expectTask(["restore", "--to", `${EVENTS}`, file], { kvPath: copy });
  assertMatch(await expectTask(["audit"], { kvPath: copy }), /^Sound: 10,001 events/);
});
