import { CHECKSUM_BYTES } from "../../../src/eventstore_less/store/checksum.ts";
import { sha256Hex } from "eventstore-less/parts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { userInfo } from "node:os";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { expectTask, expectTaskFails, runTask, spawnTask } from "../../support/run_task.ts";
import { readLines, ServiceProcess } from "../../support/service_process.ts";
import { HEAD_KEY, logKey } from "../../../src/eventstore_less/keyspace.ts";
import type { Key, Mutation } from "../../../src/eventstore_less/store/store.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { expectDone } from "../../support/third_party_tools.ts";

const test = testNeeding(PROCESSES);

/** The output of a backup: the position and the hash of the last line of a log. */
function endOf(log: string): string {
  const lines = log.trimEnd().split("\n");
  return `${JSON.stringify({ position: lines.length, hash: sha256Hex(lines.at(-1)!) })}\n`;
}

test("backup appends what is new, and prints a checkpoint of an export", async () => {
  await using temp = await TempStore.make();
  const file = `${temp.folder}/pets.jsonl`;
  const backup = () => runTask(["backup", file], temp);
  const log = () => expectTask(["log"], temp);
  const token = await temp.issueApiKey();
  assertEquals((await backup()).stdout, endOf(await log()));
  if (Deno.build.os !== "windows") assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);

  await using service = await ServiceProcess.start(temp.kvPath);
  for (let id = 1; id <= 5; id++) {
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  }
  await Deno.writeTextFile(file, '{"specver', { append: true });
  const second = await backup();
  const exported = await log();
  assertEquals([second.code, second.stdout], [0, endOf(exported)], second.stderr);
  assertEquals(await Deno.readTextFile(file), exported);
  assertMatch(second.stderr, /^Removed an incomplete line of 9 bytes from /m);
  assertMatch(second.stderr, /^Appended 5 new events: .* ends at position 6\.$/m);
  const again = await backup();
  assertEquals(again.stderr, `Nothing is new: ${file} ends at position 6.\n`);
  assertEquals(again.stdout, second.stdout);

  const checkpoint = `${temp.folder}/checkpoint.json`;
  await Deno.writeTextFile(checkpoint, again.stdout);
  const audited = await expectTask(["audit", "--checkpoint", checkpoint, "--file", file], temp);
  assertMatch(audited, /^Sound: 6 events, 5 pets\.\nThe log extends the checkpoint\.$/m);
});

test("backup into a folder that does not exist names the user and the line that makes it, which works", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  const folder = `${temp.folder}/another disk`;
  const file = `${folder}/log.jsonl`;
  const { code, stdout, stderr } = await runTask(["backup", file], temp);
  assertEquals([code, stdout], [2, ""], stderr);
  const make = `install -d -o ${userInfo().username} -m 700 '${folder}'`;
  assertStringIncludes(
    stderr,
    `the folder ${folder} does not exist: as root, make it for the user`,
  );
  assert(stderr.endsWith(`: ${make}\n`), stderr);
  assertEquals(stderr.split("\n").length, 2, stderr);
  await expectDone("sh", ["-c", make]);
  await expectTask(["backup", file], temp);
});

test("backup follows links to the store and to its file, and refuses the store by another name", async () => {
  await using temp = await TempStore.make();
  await using volume = await TempStore.make();
  await temp.issueApiKey();
  const [link, file, target] = ["store", "log", "target"].map((name) => `${volume.folder}/${name}`);
  await Deno.symlink(temp.kvPath, link);
  await Deno.symlink(target, file);
  const dangling = RegExp(
    `^error: ${file} is a symbolic link to ${target}, which does not exist; `,
  );
  await expectTaskFails(2, dangling, ["backup", file], temp);
  await Deno.writeTextFile(target, "");
  const printed = await expectTask(["backup", file], { kvPath: link });
  assertEquals(printed, endOf(await Deno.readTextFile(target)));
  assert(Deno.lstatSync(file).isSymlink);
  const isStore = /^error: EXPORT must not be the store \(KV_PATH\), nor a file that SQLite keeps/;
  const names: [kvPath: string, file: string][] = [[link, temp.kvPath], [temp.kvPath, link]];
  for (const [kvPath, name] of names) {
    await expectTaskFails(2, isStore, ["backup", name], { kvPath });
  }
});

test("backup of a store that is not sound exits with 1, and its file has every line that continues it", () =>
  withSampleFile(async ({ kvPath, folder, lines, store }) => {
    const file = `${folder}/pets.jsonl`;
    const backUp = async (from: number, code: number, to: number, words: RegExp) => {
      await Deno.writeFile(file, linesToBytes(lines.slice(0, from)));
      const outcome = await runTask(["backup", file], { kvPath });
      assertEquals([outcome.code, outcome.stdout], [
        code,
        endOf(`${lines.slice(0, to).join("\n")}\n`),
      ]);
      assertMatch(outcome.stderr, words);
      assertEquals(await Deno.readFile(file), linesToBytes(lines.slice(0, to)));
    };
    const head = await store.get(HEAD_KEY);
    await changeFile(kvPath, [{ type: "delete", key: HEAD_KEY }]);
    const headless =
      /ends at position 40\.\nerror: The store is refused: its head record is missing; run deno task audit\n$/;
    for (const from of [0, 30, 40]) await backUp(from, 1, 40, headless);

    // The record of lines 34 and 35.
    const record = await store.get(logKey(35));
    const damaged = new Uint8Array(record!.value as Uint8Array);
    // The checksum before the lines can have such a byte, too.
    const lineFeed = damaged.indexOf(10, CHECKSUM_BYTES);
    damaged[lineFeed - 20] ^= 1;
    const set = (key: Key, value: unknown): Mutation => ({
      type: "set",
      key,
      value: value as Uint8Array,
    });
    await changeFile(kvPath, [set(HEAD_KEY, head!.value), set(logKey(35), damaged)]);
    const fault = /error: Position \d+ of the log is in a damaged record; run deno task audit\n$/;
    // The last line of the file cannot be found, but the next one has its hash.
    await backUp(35, 1, 40, fault);
    // The hash in line 35 says that line 34 was altered. An older version of the page has it as it was.
    await backUp(20, 1, 40, fault);
  }));

test("backup refuses, with one line and without a change, a file that is not of this log", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  const file = `${temp.folder}/pets.jsonl`;
  const isStore = /^error: EXPORT must not be the store \(KV_PATH\), nor .*\n$/;
  const cases: [name: string, code: number, line: RegExp][] = [
    [file, 1, /^error: The file does not begin with an event of a log\n$/],
    [temp.folder, 2, /^error: EISDIR: .*\n$/],
    ["-", 2, /^error: The name of a file is required; see --help\n$/],
    [temp.kvPath, 2, isStore],
    [`${temp.kvPath}-wal`, 2, isStore],
  ];
  await Deno.writeTextFile(file, "Rex\n");
  for (const [name, code, line] of cases) {
    await expectTaskFails(code, line, ["backup", name], temp);
    assertEquals(await Deno.readTextFile(file), "Rex\n");
  }
  const log = await expectTask(["log"], temp);
  const repaired = `LC_ALL=C grep -o '{.*}' ${file} > repaired-TIME.jsonl`;
  const otherLog =
    "one was altered. Keep the file. If the store was set back or redacted on purpose, begin with a new " +
    "file. Otherwise it has lost events: run deno task audit --file FILE, and if that is sound, stop the service, " +
    "run KV_PATH=restored-TIME.sqlite3 deno task restore FILE, and restart the service with KV_PATH=restored-TIME.sqlite3";
  const contents: [content: string, advice: string][] = [
    [log.replace("\n", "\r\n"), `changed the file. Keep the file, and repair a copy: ${repaired}`],
    [log.replace('"test"', '"best"'), otherLog],
  ];
  for (const [content, advice] of contents) {
    await Deno.writeTextFile(file, content);
    const words = RegExp.escape(advice.replaceAll("FILE", file)).replaceAll(
      "TIME",
      "\\d{8}\\-\\d{6}",
    );
    await expectTaskFails(1, RegExp(`^error: .* ${words}\n$`), ["backup", file], temp);
    assertEquals(await Deno.readTextFile(file), content);
  }
});

test("backup --follow appends each event, keeps a second process out, and says how to continue", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const file = `${temp.folder}/pets.jsonl`;
  await using follower = spawnTask(["backup", file, "--follow"], { kvPath: temp.kvPath });
  const positions: number[] = [];
  await readLines(follower.stdout, async (line) => {
    const { position } = JSON.parse(line);
    positions.push(position);
    // The next event may be in the file already.
    const length = (await Deno.readTextFile(file)).split("\n").length - 1;
    assert(length >= position, "a position is reported when its event is in the file");
    if (position === 0) return;
    if (position < 4) assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    else {
      const busy = new RegExp(
        `^error: Another process writes ${
          RegExp.escape(file)
        }\\. If that is deno task backup --follow, the file is up to date: continue with the next step\\. Otherwise, .*\n$`,
      );
      await expectTaskFails(2, busy, ["backup", file], temp);
      follower.kill("SIGINT");
    }
  });
  assertEquals([(await follower.status).code, positions], [0, [0, 1, 2, 3, 4]]);
  assertEquals(
    await new Response(follower.stderr).text(),
    `Stopped. ${file} ends at position 4. Run the same command again to continue.\n`,
  );
  await follower.stdin.close();
  assertEquals(await Deno.readTextFile(file), await expectTask(["log"], temp));
});

test("backup --follow ends with 1 instead of confirming events that are not in its file", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const changes: ((file: string) => Promise<void>)[] = [
    (file) => Deno.remove(file),
    (file) => Deno.truncate(file),
  ];
  for (const [index, change] of changes.entries()) {
    const file = `${temp.folder}/${index}.jsonl`;
    await using follower = spawnTask(["backup", file, "--follow"], { kvPath: temp.kvPath });
    const errors = new Response(follower.stderr).text();
    const confirmed: number[] = [];
    await readLines(follower.stdout, async (line) => {
      confirmed.push(JSON.parse(line).position);
      if (confirmed.length !== 2) return;
      await change(file);
      await service.add({ name: "Rex", categoryId: 1 }, token);
    });
    assertEquals([(await follower.status).code, confirmed], [1, [0, index + 1]]);
    assertEquals(
      await errors,
      `error: ${file} was removed, replaced or changed by another program: it may lack ` +
        "printed positions. Run the same command again\n",
    );
    await expectTask(["backup", file], temp);
    assertEquals(await Deno.readTextFile(file), await expectTask(["log"], temp));
    await follower.stdin.close();
  }
});
