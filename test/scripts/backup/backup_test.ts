import { openBackup } from "../../support/tools.ts";
import { sha256Hex } from "eventstore-less/parts";
import { type FileHandle, open } from "node:fs/promises";
import { assertEquals, assertRejects } from "@std/assert";
import { LogDamagedError, readLog } from "../../../src/eventstore_less/log/read_log.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import { ConvertedError } from "../../../src/eventstore_less/tools/verify/conversion.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { setRecord } from "../../support/set_record.ts";
import { commit } from "../../support/store_contract.ts";

const LENGTH = 40;

type Sample = Awaited<ReturnType<typeof openSampleStore>>;

/** A test of a backup of a sample into a temporary file. */
function test(name: string, run: (parts: { sample: Sample; path: string }) => Promise<void>): void {
  testNeeding(permissions("read", "write"))(name, async () => {
    using sample = await openSampleStore(LENGTH, [1]);
    const path = await Deno.makeTempFile();
    await run({ sample, path }).finally(() => Deno.remove(path));
  });
}

/** Opens the file as a backup of the sample, and appends all new events. */
async function backUp({ store, head }: Sample, path: string, diskSpace = Infinity) {
  await using file = await open(path, "a+");
  const backup = await openBackup(file, store, head.position);
  const write: (bytes: Uint8Array) => ReturnType<FileHandle["write"]> = file.write.bind(file);
  // The system may write a part of what it is given.
  file.write = ((bytes: Uint8Array) => {
    if (diskSpace === 0) return Promise.reject(new Error("No space left on device"));
    const chunk = bytes.subarray(0, Math.min(700, diskSpace));
    diskSpace -= chunk.length;
    return write(chunk);
  }) as FileHandle["write"];
  const range = { from: backup.position + 1, to: head.position };
  for await (const batch of readLog(store, range)) await backup.append(batch);
  await backup.sync();
  return backup;
}

test("BackupFile appends exactly the log, whatever complete or incomplete line the file ends with", async ({ sample, path }) => {
  const { lines } = sample;
  const whole = linesToBytes(lines);
  for (const count of [0, 1, 20, LENGTH - 1]) {
    const start = linesToBytes(lines.slice(0, count)).length;
    const end = start + linesToBytes([lines[count]]).length;
    for (const length of [start, start + 1, Math.floor((start + end) / 2), end - 1]) {
      await Deno.writeFile(path, whole.subarray(0, length));
      const { position, hash, removedBytes } = await backUp(sample, path);
      assertEquals(await Deno.readFile(path), whole, `from ${length} bytes`);
      // Without its line feed, the last line is whole all the same.
      const removed = length === end - 1 ? 0 : length - start;
      const expected = [LENGTH, sha256Hex(lines.at(-1)!), removed];
      assertEquals([position, hash, removedBytes], expected);
    }
  }
});

test("BackupFile refuses a file that is not an export of this log, and does not change it", async ({ sample, path }) => {
  const { lines } = sample;
  const since = sample.runtime.now();
  const altered = rewritten(lines, 4, lines[4].replace("Zoë", "Max"));
  const cases: [file: string | string[], refusal: string][] = [
    ["Rex, Max and Zoë\n", "does not begin with an event of a log"],
    ["x".repeat(70_000), "is not an export of a log"],
    ['{"version"', "does not begin with the event at position 1 of this log"],
    ["hello", "does not begin with the event at position 1 of this log"],
    [[lines[0], '{"specversion":"1.0"}'], "does not end with an event that this version knows"],
    [sampleLog(LENGTH, since - 1).join("\n"), "has another event at position 40 than the log"],
    [sampleLog(LENGTH, since - 1), "has another event at position 40 than the log"],
    [sampleLog(LENGTH + 1, since), "ends at position 41, but the log at 40: "],
    [altered, "has another event at position 40 "],
  ];
  for (const [content, refusal] of cases) {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : linesToBytes(content);
    await Deno.writeFile(path, bytes);
    await assertRejects(() => backUp(sample, path), RefusedError, `The file ${refusal}`);
    assertEquals(await Deno.readFile(path), bytes);
  }
});

test("BackupFile says how another program has changed a file", async ({ sample, path }) => {
  const { lines } = sample;
  const cases: [text: string, cause: string][] = [
    ["\n", "Line 1 is empty"],
    [`${lines[0]}\n\n`, "The last line is empty"],
    [`\ufeff${lines.join("\n")}\n`, "Line 1 begins with a byte order mark (BOM)"],
    [`${lines.join("\r\n")}\r\n`, "Line 1 ends with a carriage return (CRLF)"],
  ];
  for (const [text, cause] of cases) {
    const bytes = new TextEncoder().encode(text);
    await Deno.writeFile(path, bytes);
    const error = await assertRejects(() => backUp(sample, path), ConvertedError);
    const message = `${cause}: an editor, git or PowerShell has changed the file`;
    assertEquals([error.code, error.conversion, error.message], [
      "converted",
      "converted",
      message,
    ]);
    assertEquals(await Deno.readFile(path), bytes);
  }
});

test("BackupFile refuses a torn file if the log is empty, and does not change it", async ({ sample, path }) => {
  const torn = linesToBytes(sample.lines).subarray(0, 20);
  await Deno.writeFile(path, torn);
  const store = await SqliteStore.open(":memory:");
  await using file = await open(path, "a+");
  const refusal = "The file has the beginning of an event, but the log has none at position 1: ";
  await assertRejects(() => openBackup(file, store, 0), RefusedError, refusal);
  store.close();
  assertEquals(await Deno.readFile(path), torn);
});

test("BackupFile refuses lines of the log that are no events, or do not continue the chain, and writes none of them", async ({ sample, path }) => {
  const { lines, store } = sample;
  const nine = linesToBytes(lines.slice(0, 9));
  await Deno.writeFile(path, nine);
  const altered = lines[14].replace("Zoë", "Max");
  const unsound = lines[14].replace('"categoryId"', '"category"');
  const faults: [line: string, fault: string][] = [
    [altered, "Position 16 of the log does not continue the line before it; run an audit"],
    [unsound, "Position 15 of the log is not sound: "],
  ];
  for (const [line, fault] of faults) {
    await commit(store, [setRecord(logKey(15), linesToBytes([line]))]);
    await assertRejects(() => backUp(sample, path), LogDamagedError, fault);
    assertEquals(await Deno.readFile(path), nine);
  }
});

test("BackupFile leaves only whole lines if the disk is full, says so, and continues later", async ({ sample, path }) => {
  const nine = linesToBytes(sample.lines.slice(0, 9));
  await Deno.writeFile(path, nine);
  const error = await assertRejects(() => backUp(sample, path, 3_000), Error);
  assertEquals(error.message, "Cannot write the backup after position 9");
  assertEquals((error.cause as Error).message, "No space left on device");
  assertEquals(await Deno.readFile(path), nine);
  await backUp(sample, path);
  assertEquals(await Deno.readFile(path), linesToBytes(sample.lines));
});
