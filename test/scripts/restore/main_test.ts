import { assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { encodeJson } from "../../../src/encoding/json.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { HEAD_KEY } from "eventstore-less/keyspace.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { changeFile } from "../../support/sample_file.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { setRecord } from "../../support/set_record.ts";

const testProcess = testNeeding(PROCESSES);

/** A test of the command with a temporary folder. */
function test(name: string, run: (folder: string) => Promise<void>): void {
  testProcess(name, async () => {
    await using store = await TempStore.make();
    await run(store.folder);
  });
}

/** Deno KV's name for the encoding of a value that is bytes. */
const BYTES = 3;

function encodingsOf(kvPath: string): unknown[] {
  using database = new DatabaseSync(kvPath, { readOnly: true });
  const rows = database.prepare("select distinct v_encoding from kv").all();
  return rows.map(({ v_encoding }) => v_encoding);
}

test("restore: - reads standard input, and a refused export creates no store", async (folder) => {
  const lines = sampleLog(50);
  const kvPath = `${folder}/pets.sqlite3`;
  const [stdin, gapped] = [lines, lines.toSpliced(20, 1)].map(linesToBytes);
  const gap = /^error: Line 21: its sequence says position 22, but 21 was expected\n$/;
  await expectTaskFails(1, gap, ["restore", "-"], { kvPath, stdin: gapped });
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);

  await expectTask(["restore", "-"], { kvPath, stdin });
  assertEquals(await expectTask(["log"], { kvPath }), new TextDecoder().decode(stdin));
  // V8's encoding of other values differs between runtimes.
  assertEquals(encodingsOf(kvPath), [BYTES]);
  const isFull = /^error: The store already holds a log/m;
  await expectTaskFails(2, isFull, ["restore", "-"], { kvPath, stdin });
});

test("restore: an export or a store that cannot be used exits 2 and says why", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const cases: [string[], string, RegExp][] = [
    [["restore"], kvPath, /An export is required/],
    [["restore", `${folder}/none`], kvPath, /^error: \S+\/none does not exist\n$/],
    [["restore", folder], kvPath, /^error: \S+ is a folder, not a file\n$/],
    // The export would be refused too, but the store is checked first.
    [
      ["restore", "-"],
      `${folder}/none/pets.sqlite3`,
      /^error: Cannot open .* its folder does not exist/,
    ],
    [["restore", "-"], ":memory:", /KV_PATH must not be :memory:, .*; set it to a new file\n$/],
  ];
  for (const [args, path, words] of cases) await expectTaskFails(2, words, args, { kvPath: path });
});

test("restore: only the restore itself accepts a store with half a log", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const lines = sampleLog(30);
  const [run, lastHash] = ["01HZZZZZZZ0000000000000001", sha256Hex(lines[29])];
  const mark = { format: "restore", storeFormat: 6, run, position: 30, lastHash, restored: 0 };
  await changeFile(kvPath, [setRecord(HEAD_KEY, encodeJson(mark))]);
  for (const task of ["start", "log", "audit"]) {
    const { code, stdout, stderr } = await runTask([task], { kvPath });
    assertEquals([code !== 0, stdout], [true, ""], task);
    assertMatch(stderr, /a restore into it is under way or was interrupted/);
  }
  await expectTask(["restore", "-"], { kvPath, stdin: linesToBytes(lines) });
  assertMatch(await expectTask(["audit"], { kvPath }), /^Sound: 30 events/m);
});
