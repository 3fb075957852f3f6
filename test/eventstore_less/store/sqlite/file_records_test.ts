import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals } from "@std/assert";
import { exportLog, restore } from "eventstore-less/tools";
import { APPLICATION } from "../../../../src/application.ts";
import type { Store } from "../../../../src/eventstore_less/store/store.ts";
import { continuingLines } from "../../../support/tools.ts";
import { overwritePage, PAGE_BYTES } from "../../../support/overwrite_page.ts";
import { linesToBytes, sampleLog } from "../../../support/sample_log.ts";
import { openSampleStore, writeLog } from "../../../support/sample_store.ts";
import { commit } from "../../../support/store_contract.ts";
import { LOG_PREFIX, logMutations } from "../../../../src/eventstore_less/keyspace.ts";
import { linesOf } from "../../../../src/eventstore_less/log/read_log.ts";
import { TempStore } from "../../../support/temp_store.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";

const test = testNeeding(permissions("read", "write"));

const EVENTS = 600;
const LINES = sampleLog(EVENTS, Date.now());
const ALL = LINES.map((_, index) => index + 1);

/** The positions of the lines whose bytes are in one piece in some bytes. */
function positionsIn(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const ended = text.split("\n").slice(0, -1);
  const held = new Set(ended.map((part) => part.slice(part.lastIndexOf('{"specversion"'))));
  return ALL.filter((position) => held.has(Buffer.from(LINES[position - 1]).toString("latin1")));
}

/** The positions of the lines that a recovery of a file gives, in their order. */
async function recoveredFrom(path: string): Promise<number[]> {
  const chunks = exportLog({ application: APPLICATION, location: path }, { recover: true });
  const bytes = Buffer.concat(await Array.fromAsync(chunks));
  const lines = bytes.toString().split("\n").slice(0, -1);
  return lines.map((line) => LINES.indexOf(line) + 1);
}

/** Makes a file without a write-ahead log, and resolves to its bytes. */
async function madeStore(
  { kvPath }: TempStore,
  fill: (path: string) => Promise<unknown>,
): Promise<Uint8Array> {
  await fill(kvPath);
  {
    using database = new DatabaseSync(kvPath);
    database.exec("pragma wal_checkpoint(truncate)");
  }
  return await Deno.readFile(kvPath);
}

/** Two ways in which the lines get into records: as requests come, or as many together as a record takes. */
const FILLS: Record<string, (temp: TempStore) => Promise<Uint8Array>> = {
  "a service": (temp) =>
    madeStore(
      temp,
      () => temp.use(({ store, runtime }) => writeLog(store, runtime, LINES)),
    ),
  "a restore": (temp) =>
    madeStore(temp, (path) => {
      return restore(() => ReadableStream.from([linesToBytes(LINES)]), APPLICATION, path);
    }),
};

for (const [writer, fill] of Object.entries(FILLS)) {
  test(`A file of ${writer} that was cut gives every line that its bytes still hold, once and in order`, async () => {
    await using temp = await TempStore.make();
    const file = await fill(temp);
    const path = `${temp.folder}/cut.sqlite3`;
    for (const share of [0.2, 0.45, 0.6, 0.85]) {
      // Not only at the end of a page.
      for (const more of [0, 9, 1_717]) {
        const bytes = file.subarray(
          0,
          Math.floor(file.length * share / PAGE_BYTES) * PAGE_BYTES + more,
        );
        await Deno.writeFile(path, bytes);
        const recovered = await recoveredFrom(path);
        const name = `${share}, ${more}`;
        const held = positionsIn(bytes);
        assert(held.length > EVENTS * share / 4, `${name}: ${held.length} lines`);
        assertEquals(held.filter((it) => !recovered.includes(it)), [], name);
        assertEquals(recovered, ALL.filter((it) => recovered.includes(it)), name);
      }
    }
  });

  test(`A file of ${writer} without its first page and its other pages of tables gives every line`, async () => {
    await using temp = await TempStore.make();
    const file = await fill(temp);
    const path = `${temp.folder}/headless.sqlite3`;
    await Deno.writeFile(path, file);
    for (let page = 0; page < file.length / PAGE_BYTES; page++) {
      const isLeafOrOverflow = page > 0 && [0, 0x0a].includes(file[page * PAGE_BYTES]);
      if (!isLeafOrOverflow) overwritePage(path, page);
    }
    const recovered = await recoveredFrom(path);
    const held = positionsIn(await Deno.readFile(path));
    assert(held.length > EVENTS / 2, `${held.length} lines`);
    assertEquals(held.filter((it) => !recovered.includes(it)), []);
  });
}

test("A file and its write-ahead log give the lines of both, also those after a damage of the log", async () => {
  await using temp = await TempStore.make();
  const [first, second] = [LINES.slice(0, 300), LINES.slice(300)];
  await madeStore(temp, () => temp.use(({ store, runtime }) => writeLog(store, runtime, first)));
  const path = `${temp.folder}/copy.sqlite3`;
  await temp.use(async ({ store, runtime }) => {
    await writeLog(store, runtime, second);
    await Deno.copyFile(temp.kvPath, path);
    await Deno.copyFile(`${temp.kvPath}-wal`, `${path}-wal`);
  });
  assertEquals(await recoveredFrom(path), ALL);
  const log = await Deno.readFile(`${path}-wal`);
  assert(positionsIn(log).length > 150, `${positionsIn(log).length} lines in the log`);
  // SQLite reads nothing from a damaged frame on.
  log[log.length / 3 | 0] ^= 1;
  await Deno.writeFile(`${path}-wal`, log);
  await Deno.remove(`${path}-shm`).catch(() => {});
  const recovered = await recoveredFrom(path);
  assertEquals(recovered.slice(0, 300), ALL.slice(0, 300));
  assertEquals(positionsIn(log).filter((it) => !recovered.includes(it)), []);
});

test("If the next line names another hash, neither of the two lines continues a backup", async () => {
  using sample = await openSampleStore(40);
  const { store, lines } = sample;
  const continued = async () =>
    (await Array.fromAsync(continuingLines({ store, path: undefined }))).flat().length;
  assertEquals(await continued(), lines.length);
  const [last] = await store.list({ prefix: LOG_PREFIX }, { limit: 1, reverse: true });
  const [, before] = await store.list({ prefix: LOG_PREFIX }, { limit: 2, reverse: true });
  const altered = lines[(before.key[1] as number) - 1].replace('"time":"20', '"time":"19');
  assert(last.key[1] !== before.key[1]);
  const end = before.key[1] as number;
  const whole = lines.slice(end - linesOf(before)!.length, end - 1);
  const [mutation] = logMutations(
    end - whole.length,
    [...whole, altered].map((line) => new TextEncoder().encode(line)),
  );
  await commit(store, [mutation]);
  assertEquals(await continued(), end - 1);
});

test("A commit that was never finished takes the place of no line", async () => {
  await using temp = await TempStore.make();
  const [first, last] = [LINES.slice(0, 300), LINES.slice(300, 301)];
  await madeStore(temp, () => temp.use(({ store, runtime }) => writeLog(store, runtime, first)));
  /** The log after the same file was continued by other lines, without the file. */
  const logAfter = async (lines: string[]): Promise<Uint8Array> => {
    await using copy = await TempStore.make();
    await Deno.copyFile(temp.kvPath, copy.kvPath);
    let log = new Uint8Array();
    await copy.use(async ({ store, runtime }) => {
      await writeLog(store, runtime, lines);
      log = await Deno.readFile(`${copy.kvPath}-wal`);
    });
    return log;
  };
  const others = LINES.slice(300, 303).with(0, LINES[300].replace('"time":"20', '"time":"19'));
  const finished = await logAfter(last);
  const unfinished = await logAfter(others);
  const headerBytes = 32;
  await Deno.writeFile(
    `${temp.kvPath}-wal`,
    Buffer.concat([finished, unfinished.subarray(headerBytes)]),
  );
  const path = temp.kvPath;
  const store = {} as Store;
  const lines = (await Array.fromAsync(continuingLines({ store, path }))).flat();
  assertEquals(lines.map(({ line }) => Buffer.from(line).toString()), LINES.slice(0, 301));
});
