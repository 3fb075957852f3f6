import { petKey } from "../../../src/animals/pet_keys.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes, rewritten } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

test("audit: a sound store exits 0, another one 1, and both reports have the result", () =>
  withSampleFile(async ({ kvPath }) => {
    const plain = await expectTask(["audit"], { kvPath });
    const sound = /^Sound: 40 events, 15 pets\.\nThe last line's SHA-256 is \w{64}\.\n$/;
    assertMatch(plain, sound);
    const { hash, ...report } = JSON.parse(await expectTask(["audit", "--json"], { kvPath }));
    assertMatch(hash, /^[0-9a-f]{64}$/);
    const nothing = {
      counts: {},
      advice: {},
      faults: [],
      notes: [],
      noteCounts: {},
      noteAdvice: {},
    };
    assertEquals(report, { sound: true, position: 40, pets: 15, ...nothing });

    await changeFile(kvPath, [{ type: "delete", key: projectionKey(1, petKey("sold", 10)) }]);
    const unsound = await runTask(["audit"], { kvPath });
    assertEquals(unsound.code, 1);
    assertEquals(unsound.stdout.split("\n").slice(0, 2), [
      "Not sound: 1 fault in 40 events.",
      "- Pet 10 in the list sold of generation 1 is missing",
    ]);
    assertEquals(unsound.stdout.split("\n").slice(-4), [
      "Next: Write all records again from the log, then audit again:",
      "  deno task replay",
      "  deno task audit",
      "",
    ]);
    const inJson = await runTask(["audit", "--json"], { kvPath });
    assertEquals(inJson.code, 1);
    const { counts, advice } = JSON.parse(inJson.stdout);
    assertEquals(counts, { record_missing: 1 });
    assertMatch(advice.record_missing, /^Write all records again from the log/);
  }));

test("audit: an audit that cannot run exits 2 with one line that says why", () =>
  withSampleFile(async ({ folder, kvPath }) => {
    const torn = `${folder}/torn.json`;
    await Deno.writeTextFile(torn, '{"position":');
    const fails = (reason: string, args: string[], path = kvPath) =>
      expectTaskFails(2, new RegExp(`^error: [^\n]*${reason}[^\n]*\n$`), args, { kvPath: path });
    await fails("there is no such file", ["audit"], `${folder}/nowhere.sqlite3`);
    await fails("nowhere.jsonl does not exist", ["audit", "--file", `${folder}/nowhere.jsonl`]);
    await fails(" is a folder, not a file", ["audit", "--file", folder]);
    for (const path of [torn, `${folder}/no/such/checkpoint.json`]) {
      await fails("", ["audit", "--checkpoint", path]);
    }
  }));

test("audit: a file without the counter of versions is not sound, and start and replay end at once with the reason", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await temp.issueApiKey();
  const lost = "The table data_version of Deno KV lacks its row, or has an impossible version";
  {
    using database = new DatabaseSync(kvPath);
    database.exec("delete from data_version");
  }
  const { code, stdout } = await runTask(["audit"], { kvPath });
  const [summary, fault] = stdout.split("\n");
  assertEquals([code, summary], [1, "Not sound: 1 fault in 1 event."], stdout);
  assertEquals(fault, `- The file of the store is damaged: ${lost}`);
  assertMatch(stdout, /\n {2}deno task backup recovered-\d{8}-\d{6}\.jsonl\n/);
  const refused = `it is damaged, or not a store: ${lost}; run deno task audit\n$`;
  const reason = RegExp(`^error: Cannot open the store [^\n]+ \\(KV_PATH\\): ${refused}`);
  for (const command of ["start", "replay"]) {
    await expectTaskFails(2, reason, [command], { kvPath, env: { PORT: "0" } });
  }
});

test("audit: a sound log replaces the checkpoint, and a log that was cut off does not", () =>
  withSampleFile(async ({ folder, kvPath, lines }) => {
    const checkpoint = `${folder}/checkpoint.json`;
    const audit = (...args: string[]) =>
      runTask(["audit", "--checkpoint", checkpoint, ...args], { kvPath });
    const head = async (upTo: number) => {
      const file = `${folder}/export.jsonl`;
      await Deno.writeFile(file, linesToBytes(lines.slice(0, upTo)));
      return await audit("--file", file);
    };
    assertEquals((await head(30)).code, 0);
    assertEquals(JSON.parse(await Deno.readTextFile(checkpoint)).position, 30);
    const { code, stdout } = await audit();
    assertEquals([code, /The log extends the checkpoint\./.test(stdout)], [0, true], stdout);
    const made = await Deno.readTextFile(checkpoint);
    assertEquals(JSON.parse(made).position, 40);
    const cut = await head(35);
    assertEquals(cut.code, 1);
    assertMatch(cut.stdout, /The log ends at position 35, but the checkpoint was taken at/);
    assertEquals(await Deno.readTextFile(checkpoint), made);
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assertEquals(names.filter((name) => name.endsWith(".tmp")), []);
  }));

test("audit --checkpoint: a link keeps leading to the protected place, whose checkpoint is replaced and keeps its mode", () =>
  withSampleFile(async ({ folder, kvPath }) => {
    const place = `${folder}/protected`;
    await Deno.mkdir(place);
    const [kept, link] = [`${place}/checkpoint.json`, `${folder}/link.json`];
    await Deno.symlink(kept, link);
    const audit = (path: string) => runTask(["audit", "--checkpoint", path], { kvPath });
    const dangling = await audit(link);
    assertEquals([dangling.code, dangling.stdout], [2, ""]);
    assertEquals(
      dangling.stderr,
      `error: ${link} is a symbolic link to ${kept}, which does not exist; mount its volume, or name ${kept} itself\n`,
    );
    assertEquals((await audit(kept)).code, 0);
    const made = await Deno.readTextFile(kept);
    await Deno.writeTextFile(kept, made.replace('"position":40', '"position":40 '));
    await Deno.chmod(kept, 0o640);
    const { code, stderr } = await audit(link);
    assertEquals(code, 0, stderr);
    assertEquals(await Deno.readTextFile(kept), made);
    assertEquals([Deno.lstatSync(link).isSymlink, Deno.statSync(kept).mode! & 0o777], [
      true,
      0o640,
    ]);
    await Deno.link(kept, `${folder}/hard.json`);
    const refused = await audit(link);
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, /^error: .*checkpoint\.json has 2 names \(hard links\), .*\n$/);
  }));

test("audit --file: audits an export without a store, and refuses a partial one", () =>
  withSampleFile(async ({ folder, lines }) => {
    const whole = linesToBytes(lines);
    const partial = "error: The export begins at position 10, but an audit needs all events from " +
      "position 1 on; make it again with deno task log, without --from\n";
    // As if the record of the first use was lost.
    const { idempotencykey } = JSON.parse(lines[32]);
    const again = lines[35].replace(JSON.parse(lines[35]).idempotencykey, idempotencykey);
    const repeated = linesToBytes(rewritten(lines, 35, again));
    const note = "Note: Event 36 has the Idempotency-Key of event 33, less than a day after it.";
    const cases: [stdin: Uint8Array, code: number, words: string][] = [
      [whole, 0, "Sound: 40 events, 15 pets."],
      [repeated, 0, note],
      [
        whole.slice(0, -9),
        1,
        "The first bad position is 40.\n- Line 40: The line is incomplete: its end is missing",
      ],
      [linesToBytes(lines.slice(9)), 2, partial],
    ];
    for (const [stdin, code, words] of cases) {
      const kvPath = `${folder}/nowhere.sqlite3`;
      const audited = await runTask(["audit", "--file", "-"], { kvPath, stdin });
      assertEquals(audited.code, code, audited.stderr);
      assertStringIncludes(code === 2 ? audited.stderr : audited.stdout, words);
    }
  }));
