import { audit, continuingLines } from "../../../support/tools.ts";
import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../../../src/application.ts";
import { petKey } from "../../../../src/animals/pet_keys.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { projectionKey } from "../../../../src/eventstore_less/keyspace.ts";
import { readableLines } from "../../../../src/eventstore_less/tools/verify/readable_log.ts";
import { logKey } from "../../../../src/eventstore_less/keyspace.ts";
import { linesOf } from "../../../../src/eventstore_less/log/read_log.ts";
import { SqliteReader } from "../../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { encodeKey } from "../../../../src/eventstore_less/store/key_encoding.ts";
import { SqliteStore } from "../../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { NO_WRITER } from "../../../../src/eventstore_less/store/sqlite/sqlite_writer.ts";
import { StoreDamagedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { overwritePage, PAGE_BYTES } from "../../../support/overwrite_page.ts";
import { withSampleFile } from "../../../support/sample_file.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";
import { commit } from "../../../support/store_contract.ts";

const test = testNeeding(permissions("read", "write"));
const runtime = systemRuntime;

const PET_KEY = projectionKey(1, petKey("pending", 5));

test("audit() finds a value of another program, whatever its type, also if the file is damaged", () =>
  withSampleFile(async ({ kvPath, store }) => {
    using kv = await Deno.openKv(kvPath);
    using reader = new SqliteReader(kvPath);
    const missed: unknown[] = [];
    for (const key of [["head"], ["theirs"], ["~log", 40], PET_KEY, ["~log", 41]]) {
      const { value: before } = await kv.get(key);
      for (const value of VALUES) {
        await kv.set(key, value);
        for (const from of [store, reader]) {
          const isMissed = await audit({ store: from, runtime }).then(
            ({ sound }) => sound,
            expectDamage,
          );
          if (isMissed) missed.push([key, value]);
        }
      }
      if (before === null) await kv.delete(key);
      else await kv.set(key, before);
    }
    assertEquals(missed, []);
    const theirs = new Error("theirs");
    await kv.set(["theirs"], theirs);
    assertEquals((await store.get(["theirs"]))?.value, theirs);
    await kv.delete(["theirs"]);
    assertEquals((await audit({ store, runtime })).faults, []);
  }));

function expectDamage(error: unknown): false {
  if (error instanceof StoreDamagedError) return false;
  throw error;
}

/** Values that are no bytes, of the kinds that Deno KV stores. */
const VALUES = [
  ...["text", 1n, undefined, { length: 1 }, new Error("theirs"), new ArrayBuffer(3)],
  new Deno.KvU64(1n),
];

test("audit() of a damaged file reports a record that cannot be decoded", () =>
  withSampleFile(async ({ kvPath }) => {
    const database = new DatabaseSync(kvPath);
    const change = "update kv set v = ?, v_encoding = ? where k = ?";
    // Values that V8 cannot decode, in an encoding that is unknown, and that are not bytes.
    database.prepare(change).run("text", 3, encodeKey(PET_KEY));
    database.prepare(change).run(new Uint8Array([255, 15]), 1, encodeKey(["~log", 40]));
    database.close();
    using store = new SqliteReader(kvPath);
    const damage = new StoreDamagedError("could not deserialize value");
    const { position, faults, counts } = await audit({ store, runtime, damage });
    assertEquals([position, counts.file_damaged], [40, 1]);
    const message = "The record at position 40 does not hold exactly lines 36 to 40";
    assert(faults.some((it) => it.message === message));
    const log = { store, path: kvPath };
    // The file still has the bytes of lines 36 to 40, which the update has left where they were.
    assertEquals((await Array.fromAsync(continuingLines(log))).flat().length, 40);
    // A service reports the damage, too.
    const served = new SqliteStore(store, NO_WRITER);
    const reads = [
      () => served.get(PET_KEY),
      () => served.list({ prefix: PET_KEY.slice(0, -1) }, { limit: 10 }),
      () => served.snapshot([PET_KEY], [], { limit: 0 }),
      () => served.snapshot([], [{ prefix: PET_KEY.slice(0, -1) }], { limit: 10 }),
    ];
    for (const read of reads) {
      const error = await assertRejects(read, StoreDamagedError);
      assertEquals(error.reason, "The value encoding 3 is not one of the service");
    }
  }));

test("Damage of any page of the file is found, every line that can be read is, and those before a gap continue a backup", () =>
  withSampleFile(async ({ folder, kvPath, lines, store }) => {
    // Large records with overflow pages, which are deleted again, so that there are free pages.
    for (const type of ["set", "delete"] as const) {
      for (let index = 0; index < 6; index++) {
        const mutation = { key: ["free", index], value: new Uint8Array(20_000), type };
        await commit(store, [mutation]);
      }
    }
    const database = new DatabaseSync(kvPath);
    database.exec("pragma wal_checkpoint(truncate)");
    const [{ freelist_count: free }] = database.prepare("pragma freelist_count").all();
    assert(free as number > 10);
    database.close();
    const original = await Deno.readFile(kvPath);
    const path = `${folder}/damaged.sqlite3`;
    const pages = original.length / PAGE_BYTES;
    let harmless = 0;
    const recovered = new Set<number>();
    let gaps = 0;
    for (let page = 0; page < pages; page++) {
      await Deno.writeFile(path, original);
      overwritePage(path, page);
      using reader = new SqliteReader(path);
      try {
        reader.checkStructure();
        harmless++;
      } catch (error) {
        assert(error instanceof StoreDamagedError, `page ${page}: ${error}`);
        const readable = await linesByPosition(reader);
        const log = { application: APPLICATION, store: reader, path };
        const read = (await Array.fromAsync(readableLines(log))).flat()
          .map(({ line }) => decoder.decode(line));
        assertEquals(readable.filter((line) => !read.includes(line)), [], `page ${page}`);
        const gap = lines.findIndex((line) => !readable.includes(line));
        const events = gap === -1 ? lines.length : gap;
        const texts = (await Array.fromAsync(continuingLines(log))).flat()
          .map(({ line }) => decoder.decode(line));
        assert(texts.length >= events, `page ${page}: ${texts.length} of ${events} lines`);
        assertEquals(texts, lines.slice(0, texts.length), `page ${page}`);
        recovered.add(events);
        if (readable.length > events) gaps++;
      }
    }
    // The content of a free page does not matter, unless it lists others.
    assert(harmless < (free as number), `${harmless} of ${pages} pages`);
    assertEquals([recovered.has(0), recovered.has(40), recovered.size > 5], [true, true, true]);
    assert(gaps > 2, `${gaps} gaps`);
  }));

/** The lines that a file gives if each position is read by itself. */
async function linesByPosition(reader: SqliteReader): Promise<string[]> {
  const found = new Map<number, string>();
  for (let position = 1; position <= 40; position++) {
    try {
      const range = { start: logKey(position), end: logKey(41) };
      const [entry] = await reader.list(range, { limit: 1 });
      const stored = entry === undefined ? [] : linesOf(entry) ?? [];
      for (const { position, line } of stored) found.set(position, decoder.decode(line));
    } catch (error) {
      assert(error instanceof StoreDamagedError, `position ${position}: ${error}`);
    }
  }
  return [...found].toSorted(([one], [other]) => one - other).map(([, line]) => line);
}

const decoder = new TextDecoder();
