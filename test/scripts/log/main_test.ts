import { DatabaseSync } from "node:sqlite";
import type { Mutation } from "../../../src/eventstore_less/store/store.ts";
import { encodeJson } from "eventstore-less";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { asTask } from "../../support/programs.ts";
import { expectTask, expectTaskFails, runTask, spawnTask } from "../../support/run_task.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { HEAD_KEY, logKey } from "../../../src/eventstore_less/keyspace.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { checkedContent } from "../../../src/eventstore_less/store/checksum.ts";
import { setRecord } from "../../support/set_record.ts";

const test = testNeeding(PROCESSES);

/** A temporary store file with one key. */
async function withStore(use: (kvPath: string, token: string) => Promise<void>): Promise<void> {
  await using store = await TempStore.make();
  await use(store.kvPath, await store.issueApiKey());
}

const decoder = new TextDecoder();

function positionsOf(lines: string[]): number[] {
  return lines.map((line) => Number(JSON.parse(line).sequence));
}

test("log --follow exits 0 on SIGINT, at its last position, and at an event after its pipe was closed", () =>
  withStore(async (kvPath, token) => {
    const bounded = await expectTask(["log", "--follow", "--to", "1"], { kvPath });
    assertEquals(positionsOf([bounded]), [1]);

    const interrupted = spawnTask(["log", "--follow"], { kvPath });
    const reader = interrupted.stdout.getReader();
    assert(!(await reader.read()).done);
    interrupted.kill("SIGINT");
    assertEquals((await interrupted.status).code, 0);
    reader.releaseLock();

    const unread = spawnTask(["log", "--follow"], { kvPath });
    const pipe = unread.stdout.getReader();
    assert(!(await pipe.read()).done);
    await pipe.cancel();
    await using service = await ServiceProcess.start(kvPath);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    assertEquals((await unread.status).code, 0);
    assertEquals(
      asTask(await new Response(interrupted.stderr).text()),
      "Stopped after position 1. deno task log --from 2 --follow continues.\n",
    );
    assertEquals(await new Response(unread.stderr).text(), "");
    for (const child of [interrupted, unread]) await child.stdin.close();
  }));

test("log --pretty shows the label of the actor's key and the data, without colours in a pipe", () =>
  withSampleFile(async ({ kvPath, lines, keyId }) => {
    const pretty = (...args: string[]) =>
      expectTask(["log", "--pretty", ...args], { kvPath, env: { NO_COLOR: "" } });
    // The label is known although its event is not printed.
    const { time } = JSON.parse(lines[39]);
    const shown = `^${time} +40 PetUpdated +pets/\\d+ +${keyId} "key 31" .* -> .*\n$`;
    assertMatch(await pretty("--last", "1"), new RegExp(shown));
    const removal = await pretty("--type", "PetRemoved", "--to", "20");
    const { actor, data } = JSON.parse(lines[14]);
    const line = ` 15 PetRemoved      ${"pets/1".padEnd(31)} ${actor} "key 11" `;
    const [, rest] = removal.split(/^\S{24} {6}/);
    assertEquals(rest, `${line}${JSON.stringify(data)}\n`);
  }));

test("log prints the requested part, and refuses arguments that are not valid", () =>
  withStore(async (kvPath) => {
    for (const label of ["b", "c"]) {
      await expectTask(["keys", "issue", "--label", label], { kvPath });
    }
    const positions = async (...args: string[]) =>
      positionsOf((await expectTask(["log", ...args], { kvPath })).split("\n").slice(0, -1));
    assertEquals(await positions(), [1, 2, 3]);
    assertEquals(await positions("--from", "2", "--to", "2"), [2]);
    assertEquals(await positions("--last", "1"), [3]);
    const bounded = await positions("--last", "2", "--to", "3", "--actor", "operator", "--follow");
    assertEquals(bounded, [2, 3]);
    assertEquals(await positions("--follow", "--to", "3", "--type", "PetUpdated"), []);
    const wrong: [string[], RegExp][] = [
      [["--from", "0"], /--from takes a whole number from 1 on, not "0"/],
      [["--from", "5", "--to", "3"], /--to must not be before --from/],
      [["--last", "1", "--to", "2"], /--last and --to can be used together only with --follow/],
    ];
    for (const [args, words] of wrong) {
      await expectTaskFails(2, words, ["log", ...args], { kvPath });
    }
  }));

test("log --recover prints every line that can be read, whatever the head says, and names what is missing", () =>
  withSampleFile(async ({ kvPath, lines, store }) => {
    const head = await store.get(HEAD_KEY);
    const record = await store.get(logKey(35));
    /** Changes the file without the service, and leaves no older version of a page. */
    const changeAll = async (mutations: Mutation[]) => {
      await changeFile(kvPath, mutations);
      using database = new DatabaseSync(kvPath);
      database.exec("vacuum; pragma wal_checkpoint(truncate)");
    };
    const recover = async (printed: string[], code: number, words: RegExp) => {
      const outcome = await runTask(["log", "--recover"], { kvPath });
      const text = decoder.decode(linesToBytes(printed));
      assertEquals([outcome.code, outcome.stdout], [code, text]);
      assertMatch(outcome.stderr, words);
    };
    const all =
      /^Printed all lines that can be read, sound or not; the last event is at position 40\.\n$/;
    await recover(lines, 0, all);
    await changeAll([{ type: "set", key: HEAD_KEY, value: encodeJson({}) }]);
    await recover(lines, 0, all);
    for (const args of [["log"], ["keys", "list"]]) {
      const { stdout, stderr } = await runTask(args, { kvPath });
      assertEquals(stdout, "");
      assertMatch(stderr, /^error: [^\n{]*head record[^\n{]*; run deno task audit\n$/);
    }
    await changeAll([{ type: "delete", key: HEAD_KEY }]);
    await recover(lines, 0, all);
    // Lines are evidence also if they are not sound.
    const text = decoder.decode(checkedContent(record!));
    const altered = text.replace('"time":"20', '"time":"21');
    await changeAll([setRecord(logKey(35), altered)]);
    await recover(lines.toSpliced(33, 2, ...altered.trimEnd().split("\n")), 0, all);
    // A flipped bit in the position of a line says nothing of the other positions.
    const misplaced = text.replace(
      '"sequence":"0000000000000035"',
      '"sequence":"1000000000000035"',
    );
    const withOldChecksum = new TextEncoder().encode(misplaced);
    const bytes = new Uint8Array(record!.value as Uint8Array);
    bytes.set(withOldChecksum, bytes.length - withOldChecksum.length);
    await changeAll([{ type: "set", key: logKey(35), value: bytes }]);
    const without35 =
      /^Printed all lines that can be read, sound or not; the last event is at position 40\. No line is the event at positions 35\.\n$/;
    await recover(lines.toSpliced(33, 2, ...misplaced.trimEnd().split("\n")), 1, without35);
    await changeAll([{ type: "delete", key: logKey(35) }]);
    const missing =
      /^Printed all lines that can be read, sound or not; the last event is at position 40\. No line is the event at positions 34 to 35\.\n$/;
    await recover(lines.toSpliced(33, 2), 1, missing);
    await changeAll([
      { type: "set", key: HEAD_KEY, value: head!.value as Uint8Array },
      { type: "delete", key: logKey(40) },
    ]);
    const atEnd =
      /^Printed all lines that can be read, sound or not; the last event is at position 35\. No line is the event at positions 36 to 40\.\n$/;
    await changeAll([setRecord(logKey(35), text)]);
    await recover(lines.slice(0, 35), 1, atEnd);
    await expectTaskFails(2, /--recover/, ["log", "--recover", "--to", "3"], { kvPath });
  }));

test("log says that a position is missing, and does not exit 0", () =>
  withSampleFile(async ({ kvPath }) => {
    await changeFile(kvPath, [{ type: "delete", key: logKey(14) }]);
    const { code, stderr } = await runTask(["log"], { kvPath });
    assertEquals(code, 2);
    assertEquals(stderr, "error: Position 8 of the log is missing; run deno task audit\n");
  }));

test("log --csv prints a row for each event, --no-keys leaves out keys, and --type can be used twice", () =>
  withSampleFile(async ({ kvPath, lines }) => {
    const rows = async (...args: string[]) => {
      const text = await expectTask(["log", "--csv", ...args], { kvPath });
      return text.replace(/\r\n$/, "").split("\r\n").map((row) => row.split(","));
    };
    const [, first, ...others] = await rows();
    const { time, subject } = JSON.parse(lines[0]);
    assertEquals(first.slice(0, 5), ["1", time, "ApiKeyIssued", subject, "operator"]);
    assertEquals(others.length, lines.length - 1);
    const typesOf = async (...args: string[]) => {
      const [, ...selected] = await rows(...args);
      return [...new Set(selected.map(([, , type]) => type))].sort();
    };
    const ofCategories = ["CategoryNamed", "CategoryRemoved"];
    const ofPets = ["PetCreated", "PetRemoved", "PetUpdated"];
    assertEquals(await typesOf("--no-keys"), [...ofCategories, ...ofPets]);
    const two = ["PetCreated", "PetRemoved"];
    assertEquals(await typesOf(...two.flatMap((type) => ["--type", type])), two);
    const both = /--pretty and --csv cannot be used together/;
    await expectTaskFails(2, both, ["log", "--csv", "--pretty"], { kvPath });
  }));

test("log --until says if its events are no prefix of the log, because a clock was ahead", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  const lines = sampleLog(30, Date.now() - 3_600_000);
  const timeOf = (position: number) => JSON.parse(lines[position - 1]).time;
  const ahead = lines[17].replace(timeOf(18), timeOf(28));
  const stdin = linesToBytes(rewritten(lines, 17, ahead));
  await expectTask(["restore", "-"], { kvPath, stdin });
  const until = await runTask(["log", "--until", timeOf(21)], { kvPath });
  assertEquals(until.code, 0);
  assertEquals(positionsOf(until.stdout.split("\n").slice(0, -1)).slice(-3), [17, 19, 20]);
  assertEquals(
    until.stderr,
    "The events are no prefix of the log, and cannot be restored: position 18 is of a later time, " +
      "but 2 events after it are not. deno task log --to 17 prints the events before it.\n",
  );
  const others = [["--until", timeOf(18)], ["--until", timeOf(21), "--no-keys"]];
  for (const args of others) {
    assertEquals((await runTask(["log", ...args], { kvPath })).stderr, "", args.join(" "));
  }
});
