import { assertEquals, assertMatch } from "@std/assert";
import { relative } from "node:path";
import { VERSION } from "../../../src/settings/version.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

test("status: says what to do first and exits 1, and exits 0 when it is done", async () => {
  await using temp = await TempStore.make();
  const { folder, kvPath } = temp;
  await expectTask(["keys", "issue", "--label", "shop"], { kvPath });
  const file = `${folder}/log.jsonl`;
  const before = await runTask(["status"], { kvPath });
  assertEquals([before.code, before.stderr], [1, ""]);
  assertMatch(before.stdout, /^Last backup +not known$/m);
  assertMatch(
    before.stdout,
    /^Do first +No backup of this store is known: deno task backup EXPORT, on another disk$/m,
  );
  // The record has the whole path of a relative name.
  const outcome = await runTask(["backup", relative(ROOT, file)], { kvPath });
  assertEquals(outcome.code, 0, outcome.stderr);
  const between = await runTask(["status"], { kvPath });
  assertEquals(between.code, 1);
  assertMatch(between.stdout, /^Do first +No audit of this store is known: deno task audit$/m);
  await expectTask(["audit"], { kvPath });

  const lines = (await expectTask(["status"], { kvPath })).split("\n");
  const expected = [
    RegExp(`^Version +${VERSION.replaceAll(".", "\\.")}`),
    RegExp(`^Store +${kvPath}, \\d+\\.\\d MB$`),
    /^Events +1, the newest at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/,
    /^Pets +0$/,
    /^Last audit +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ, sound, up to position 1$/,
    RegExp(`^Last backup +\\d.*Z, up to position 1, lacks nothing: ${file}$`),
    /^Keys +1 valid$/,
    /^Commits +on this disk alone$/,
    /^Do first +nothing$/,
    /^$/,
  ];
  assertEquals(lines.length, expected.length);
  expected.forEach((line, index) => assertMatch(lines[index], line));
});

test("status: --json has the same facts, times in UTC, and no value that is not known", async () => {
  await using temp = await TempStore.make();
  const { folder, kvPath } = temp;
  await expectTask(["keys", "issue", "--label", "shop", "--expires-in", "7d"], { kvPath });
  await expectTask(["backup", `${folder}/log.jsonl`], { kvPath });
  await expectTask(["audit"], { kvPath });
  const { code, stdout } = await runTask(["status", "--json"], { kvPath });
  assertEquals(code, 1);
  const { bytes, newestEventAt, audit, backup, expiringKeys, doFirst, ...rest } = JSON.parse(
    stdout,
  );
  assertEquals(rest, {
    version: rest.version,
    ...(rest.commit === undefined ? {} : { commit: rest.commit }),
    store: kvPath,
    events: 1,
    pets: 0,
    liveKeys: 1,
    replicated: false,
  });
  const [key, ...others] = expiringKeys;
  assertEquals(others, []);
  assertEquals([bytes > 0, key.label], [true, "shop"]);
  assertEquals([audit.position, audit.sound], [1, true]);
  assertEquals([backup.position, backup.lacks, backup.file], [1, 0, `${folder}/log.jsonl`]);
  for (const time of [newestEventAt, audit.endedAt, backup.endedAt, key.expiresAt]) {
    assertMatch(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  const shownEnd = key.expiresAt.replace("T", " ").slice(0, 16);
  const rotate = `deno task keys rotate ${key.id}`;
  assertEquals(doFirst, `Key ${key.id} expires at ${shownEnd}Z: ${rotate}`);
});

test("status: without a store, it exits 2 with one line that says why", async () => {
  await using temp = await TempStore.make();
  const kvPath = `${temp.folder}/nowhere.sqlite3`;
  await expectTaskFails(2, /^error: [^\n]*there is no such file[^\n]*\n$/, ["status"], { kvPath });
});
