import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { LogDamagedError, readLog } from "../../../src/log/read_log.ts";
import { logKey } from "../../../src/keyspace.ts";
import { Backup, type BackupFile, BackupRefusedError } from "../../../scripts/backup/backup.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { openSampleStore } from "../../support/sample_store.ts";

const LENGTH = 40;

/** A file in memory. */
class MemoryFile implements BackupFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Length of the file at the last sync. */
  synced = -1;
  /** Bytes that still fit on the disk. */
  free = Infinity;
  #offset = 0;

  constructor(bytes: Uint8Array<ArrayBuffer> = new Uint8Array()) {
    this.bytes = bytes;
  }

  read(target: Uint8Array): Promise<number | null> {
    // A part of what is asked for, as a system may return.
    const chunk = this.bytes.subarray(this.#offset, this.#offset + Math.min(target.length, 1_000));
    target.set(chunk);
    this.#offset += chunk.length;
    return Promise.resolve(chunk.length === 0 ? null : chunk.length);
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.free === 0) return Promise.reject(new Error("No space left on device"));
    const chunk = bytes.subarray(0, Math.min(700, this.free));
    this.free -= chunk.length;
    const all = new Uint8Array(Math.max(this.bytes.length, this.#offset + chunk.length));
    all.set(this.bytes);
    all.set(chunk, this.#offset);
    this.bytes = all;
    this.#offset += chunk.length;
    return Promise.resolve(chunk.length);
  }

  seek(offset: number | bigint): Promise<number> {
    this.#offset = Number(offset);
    return Promise.resolve(this.#offset);
  }

  stat(): Promise<Deno.FileInfo> {
    return Promise.resolve({ size: this.bytes.length, isFile: true } as Deno.FileInfo);
  }

  truncate(length = 0): Promise<void> {
    this.bytes = this.bytes.slice(0, length);
    return Promise.resolve();
  }

  syncData(): Promise<void> {
    this.synced = this.bytes.length;
    return Promise.resolve();
  }
}

type Sample = Awaited<ReturnType<typeof openSampleStore>>;

/** Opens the file as a backup of the sample, and appends all new events. */
async function backUp({ store, head }: Sample, file: MemoryFile): Promise<Backup> {
  const backup = await Backup.open(file, store, head.position);
  assertEquals(file.synced, file.bytes.length);
  const range = { from: backup.position + 1, to: head.position };
  for await (const batch of readLog(store, range)) await backup.append(batch);
  await backup.sync();
  return backup;
}

Deno.test("Backup appends exactly the log, whatever complete or incomplete line the file ends with", async () => {
  using sample = await openSampleStore(LENGTH);
  const whole = linesToBytes(sample.lines);
  const boundaries = new Set(
    sample.lines.map((_, index) => linesToBytes(sample.lines.slice(0, index)).length),
  );
  let torn = 0;
  for (let length = 0; length <= whole.length; length += length < 1_500 ? 1 : 97) {
    const file = new MemoryFile(whole.slice(0, length));
    const backup = await backUp(sample, file);
    assertEquals(file.bytes, whole, `from ${length} bytes`);
    assertEquals(file.synced, whole.length);
    assertEquals([backup.position, backup.hash], [LENGTH, sha256Hex(sample.lines.at(-1)!)]);
    if (backup.removedBytes > 0) torn++;
    assertEquals(backup.removedBytes > 0, !boundaries.has(length) && length !== whole.length);
  }
  assert(torn > 1_000);
});

Deno.test("Backup refuses a file that is not an export of this log, and does not change it", async () => {
  using sample = await openSampleStore(LENGTH);
  const { lines, store, head } = sample;
  const since = sample.runtime.now();
  const altered = rewritten(lines, 4, lines[4].replace("Zoë", "Max"));
  const cases: [file: string | string[], refusal: RegExp][] = [
    ["Rex, Max and Zoë\n", /^does not begin with the first event of a log$/],
    ["\n", /^does not begin with the first event of a log$/],
    [lines.slice(1), /^does not begin with the first event of a log$/],
    ["x".repeat(70_000), /^is not an export of a log$/],
    ['{"version"', /^does not begin with the first event of this log$/],
    ["hello", /^does not begin with the first event of this log$/],
    [[lines[0], '{"specversion":"1.0"}'], /^does not end with an event that this version knows$/],
    [[lines[0], ""], /^does not end with an event that this version knows$/],
    [
      sampleLog(LENGTH, { since: since - 60_000 }),
      /^has another event at position 40 than the log/,
    ],
    [sampleLog(LENGTH + 1, { since }), /^ends at position 41, but the log at 40: /],
    [altered, /^has another event at position 40 /],
  ];
  for (const [content, refusal] of cases) {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : linesToBytes(content);
    const file = new MemoryFile(bytes.slice());
    const opening = Backup.open(file, store, head.position);
    assertMatch((await assertRejects(() => opening, BackupRefusedError)).message, refusal);
    assertEquals(file.bytes, bytes);
  }
});

Deno.test("Backup refuses lines of the log that do not continue the chain, and writes none of them", async () => {
  using sample = await openSampleStore(LENGTH, [1]);
  const file = new MemoryFile(linesToBytes(sample.lines.slice(0, 9)));
  const line = sample.lines[14].replace("Zoë", "Max");
  await sample.store.commit({
    checks: [],
    mutations: [{ type: "set", key: logKey(15), value: linesToBytes([line]) }],
  });
  const error = await assertRejects(() => backUp(sample, file), LogDamagedError);
  assertEquals(
    error.message,
    "Position 16 of the log does not continue the line before it; run deno task audit",
  );
  assertEquals(file.bytes, linesToBytes(sample.lines.slice(0, 9)));
});

Deno.test("Backup leaves only whole lines if the disk is full, says so, and continues later", async () => {
  using sample = await openSampleStore(LENGTH);
  const file = new MemoryFile(linesToBytes(sample.lines.slice(0, 9)));
  file.free = 3_000;
  const error = await assertRejects(() => backUp(sample, file), Error);
  assertEquals(error.message, "Cannot write the backup after position 9");
  assertEquals((error.cause as Error).message, "No space left on device");
  assertEquals(file.bytes, linesToBytes(sample.lines.slice(0, 9)));
  file.free = Infinity;
  await backUp(sample, file);
  assertEquals(file.bytes, linesToBytes(sample.lines));
});
