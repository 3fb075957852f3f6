import { assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { encodeJson } from "../../../src/encoding/json.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { HEAD_KEY } from "../../../src/keyspace.ts";
import { test as testProcess } from "../../support/test_processes.ts";
import { runTask } from "../../support/run_task.ts";
import { changeFile } from "../../support/sample_file.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { setRecord } from "../../support/set_record.ts";

/** A test of the command with a temporary folder. */
function test(name: string, run: (folder: string) => Promise<void>): void {
  testProcess(name, async () => {
    await using store = await TempStore.make();
    await run(store.folder);
  });
}

/** Runs a task that must succeed, and resolves to its standard output. */
async function done(args: string[], kvPath: string, stdin?: Uint8Array): Promise<string> {
  const { code, stdout, stderr } = await runTask(args, { kvPath, stdin });
  assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
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
  const refused = await runTask(["restore", "-"], {
    kvPath,
    stdin: linesToBytes(lines.toSpliced(20, 1)),
  });
  assertEquals([refused.code, refused.stdout], [1, ""]);
  assertMatch(
    refused.stderr,
    /^error: Line 21: its sequence says position 22, but 21 was expected\n$/,
  );
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);

  await done(["restore", "-"], kvPath, linesToBytes(lines));
  assertEquals(await done(["log"], kvPath), new TextDecoder().decode(linesToBytes(lines)));
  // V8's encoding of other values differs between runtimes.
  assertEquals(encodingsOf(kvPath), [BYTES]);
  const again = await runTask(["restore", "-"], { kvPath, stdin: linesToBytes(lines) });
  assertEquals([again.code, again.stdout], [2, ""]);
  assertMatch(again.stderr, /^error: The store already holds a log/m);
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
  for (const [args, path, words] of cases) {
    const { code, stdout, stderr } = await runTask(args, { kvPath: path });
    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, words);
  }
});

test("restore: only the restore itself accepts a store with half a log", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const lines = sampleLog(30);
  const [run, lastHash] = ["01HZZZZZZZ0000000000000001", sha256Hex(lines[29])];
  const mark = { format: "restore", storeFormat: 5, run, position: 30, lastHash, restored: 0 };
  await changeFile(kvPath, [setRecord(HEAD_KEY, encodeJson(mark))]);
  for (const task of ["start", "log", "audit"]) {
    const { code, stdout, stderr } = await runTask([task], { kvPath });
    assertEquals([code !== 0, stdout], [true, ""], task);
    assertMatch(stderr, /a restore into it is under way or was interrupted/);
  }
  await done(["restore", "-"], kvPath, linesToBytes(lines));
  assertMatch(await done(["audit"], kvPath), /^Sound: 30 events/m);
});
