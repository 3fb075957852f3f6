import { systemRuntime } from "eventstore-less/startup";
import { retry } from "../../../../src/eventstore_less/runtime/retry.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { HEAD_KEY } from "../../../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { KvWriter } from "../../../../src/eventstore_less/store/deno_kv/kv_writer.ts";
import { SqliteReader } from "../../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { encodeKey } from "../../../../src/eventstore_less/store/key_encoding.ts";
import { SqliteStore } from "../../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import {
  FileWriter,
  NO_WRITER,
} from "../../../../src/eventstore_less/store/sqlite/sqlite_writer.ts";
import type { Store } from "../../../../src/eventstore_less/store/store.ts";
import {
  NotAppliedError,
  StoreClosedError,
  StoreDamagedError,
} from "../../../../src/eventstore_less/store/store_errors.ts";
import { commit, put, set, testStoreContract } from "../../../support/store_contract.ts";
import { TempStore } from "../../../support/temp_store.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";
import { utf8 } from "../../../support/utf8.ts";

const FILES = permissions("read", "write");
const test = testNeeding(FILES);

testStoreContract({
  name: "SqliteStore in memory",
  open: async () => ({ store: await SqliteStore.open(":memory:") }),
});

testStoreContract({
  name: "SqliteStore on a file",
  needs: [FILES],
  async open() {
    const temp = await TempStore.make();
    const store = await SqliteStore.open(temp.kvPath, 0);
    return { store, dispose: () => temp[Symbol.asyncDispose]() };
  },
});

test("SqliteStore makes the tables that Deno KV makes", async () => {
  await using temp = await TempStore.make();
  await using ofDeno = await TempStore.make();
  (await SqliteStore.open(temp.kvPath)).close();
  (await Deno.openKv(ofDeno.kvPath)).close();
  assertEquals(describeFile(temp.kvPath), describeFile(ofDeno.kvPath));
});

test("SqliteStore and Deno KV read what the other has written, in turns and at the same time", async () => {
  await using temp = await TempStore.make();
  const range = { prefix: [] };
  for (let round = 1; round <= 3; round++) {
    for (const isFirst of [true, false]) {
      const store = await SqliteStore.open(temp.kvPath);
      const kvStore = new KvStore(await Deno.openKv(temp.kvPath), HEAD_KEY);
      const [writer, reader] = isFirst ? [store, kvStore] : [kvStore, store];
      const versionstamp = await commit(writer, [
        set(["pet", round, isFirst ? "a" : "b"], `${round}`),
        set(["~log", Uint8Array.of(round)], new Uint8Array(60_000)),
        { type: "delete", key: ["pet", round - 1, "a"] },
      ]);
      const read = await reader.list(range, { limit: 500 });
      assertEquals(read, await writer.list(range, { limit: 500 }));
      assertEquals(read.at(-1)?.versionstamp, versionstamp);
      // The one that has not written checks what the other has.
      const guard = { key: ["~log", Uint8Array.of(round)], versionstamp };
      const mutations = [set(guard.key, "again"), set(["checked"], `${round}`)];
      const later = await reader.commit({ guard, mutations });
      assert(later !== null && later > versionstamp, `${later} follows ${versionstamp}`);
      assertEquals((await writer.get(["checked"]))?.versionstamp, later);
      (isFirst ? store : kvStore).close();
      (isFirst ? kvStore : store).close();
    }
  }
});

test("SqliteStore reads the values of another program as a service on Deno KV does", async () => {
  await using temp = await TempStore.make();
  {
    using kv = await Deno.openKv(temp.kvPath);
    await kv.set(["object"], { name: "Rex", since: new Date(0), ids: new Set([1n]) });
    await kv.set(["number"], new Deno.KvU64(7n));
  }
  const store = await SqliteStore.open(temp.kvPath);
  const value = { name: "Rex", since: new Date(0), ids: new Set([1n]) };
  assertEquals((await store.get(["object"]))?.value, value);
  await assertRejects(() => store.get(["number"]), StoreDamagedError);
  await commit(store, [set(["guard"], ""), set(["number"], "now bytes")]);
  assertEquals((await store.get(["number"]))?.value, utf8("now bytes"));
  store.close();
});

test("SqliteStore keeps a record that has expired, and what it writes does not expire", async () => {
  await using temp = await TempStore.make();
  {
    using kv = await Deno.openKv(temp.kvPath);
    for (const name of ["expired", "kept", "later"]) {
      await kv.set([name], 1, { expireIn: 3_600_000 });
    }
  }
  const earlier = new DatabaseSync(temp.kvPath);
  earlier.prepare("update kv set expiration_ms = 1 where k = ?").run(encodeKey(["expired"]));
  earlier.close();
  const store = await SqliteStore.open(temp.kvPath);
  const keys = async () => (await store.list({ prefix: [] }, { limit: 9 })).map(({ key }) => key);
  assertEquals(await keys(), [["expired"], ["kept"], ["later"]]);
  await put(store, ["kept"], "by the service");
  store.close();
  using later = new DatabaseSync(temp.kvPath);
  const expiries = later.prepare("select expiration_ms >= 0 as expires from kv order by k").all();
  assertEquals(expiries.map(({ expires }) => expires), [1, 0, 1]);
});

test("SqliteStore reads while a commit waits for the disk, and reads it once it is acknowledged", async () => {
  await using temp = await TempStore.make();
  const store = await SqliteStore.open(temp.kvPath, 0);
  await put(store, ["key"], "old");
  // Like a slow disk, a lock keeps the worker in the commit.
  using database = new DatabaseSync(temp.kvPath);
  database.exec("begin immediate");
  let isOver = false;
  const committed = put(store, ["key"], "new").finally(() => isOver = true);
  committed.catch(() => {});
  for (let reads = 0; reads < 50; reads++) {
    assertEquals((await store.get(["key"]))?.value, utf8("old"));
    assertEquals((await store.list({ prefix: [] }, { limit: 2 })).length, 1);
  }
  assert(!isOver, "the reads waited for the commit");
  database.exec("rollback");
  const versionstamp = await committed;
  assertEquals(await store.get(["key"]), { key: ["key"], value: utf8("new"), versionstamp });
  store.close();
});

test("Processes that create a file at the same time, by SqliteStore and Deno KV, all write it", async () => {
  for (let round = 0; round < 5; round++) {
    await using temp = await TempStore.make();
    const path = temp.kvPath;
    const openings: Promise<Store>[] = [1, 2, 3].map(() => SqliteStore.open(path));
    openings.push(Deno.openKv(path).then((kv) => new KvStore(kv, HEAD_KEY)));
    const stores = await Promise.all(openings);
    await Promise.all(stores.map(async (store, index) => {
      // Deno KV gives up a commit if another process commits between the check and the first change.
      const isLocked = (error: unknown) => error instanceof NotAppliedError;
      await retry(() => put(store, [index], ""), systemRuntime, 10_000, isLocked);
    }));
    const found = await stores[0].list({ prefix: [] }, { limit: 9 });
    assertEquals(found.map(({ key }) => key), [[0], [1], [2], [3]]);
    stores.forEach((store) => store.close());
  }
});

test("close() of a SqliteStore leaves one file, and rejects a commit that is under way", async () => {
  await using temp = await TempStore.make();
  const store = await SqliteStore.open(temp.kvPath);
  const guard = { key: ["key"], versionstamp: await put(store, ["key"], "value") };
  const commit = { guard, mutations: [set(["key"], "last")] };
  const last = store.commit(commit);
  store.close();
  await assertRejects(() => last, StoreClosedError);
  await assertRejects(() => store.commit(commit), StoreClosedError);
  const files = await Array.fromAsync(Deno.readDir(temp.folder), ({ name }) => name);
  assertEquals(files, ["pets.sqlite3"]);
});

test("A commit without the counter of versions rejects with StoreDamagedError, by Deno KV as by SqliteStore", async () => {
  for (const isByDeno of [false, true]) {
    await using temp = await TempStore.make();
    const path = temp.kvPath;
    const writer = isByDeno ? new KvWriter(await Deno.openKv(path)) : await FileWriter.open(path);
    const store = new SqliteStore(new SqliteReader(path), writer);
    await put(store, ["key"], "value");
    {
      using database = new DatabaseSync(path);
      database.exec("delete from data_version");
    }
    const damage = await assertRejects(() => put(store, ["key"], "other"), StoreDamagedError);
    assertEquals(damage.reason, "Query returned no rows");
    assertEquals((await store.get(["key"]))?.value, utf8("value"));
    store.close();
  }
});

/** Columns of a record that the service does not write. */
const UNREADABLE = {
  "a key of an unknown part": "k = x'0961'",
  "a key that is cut": "k = x'0261'",
  "a key that is not UTF-8": "k = x'02ff00'",
  "a value that is no V8 value": "v = x'ff0f', v_encoding = 1",
  "a value of another type": "v = 'text'",
  "an encoding that is unknown": "v_encoding = 7",
  "a version that is negative": "version = -1",
  "a version that is a text": "version = 'none'",
};

test("SqliteStore rejects a list and a snapshot with StoreDamagedError at a record that it does not write", async () => {
  await using temp = await TempStore.make();
  const store = await SqliteStore.open(temp.kvPath);
  using database = new DatabaseSync(temp.kvPath);
  const range = { start: [new Uint8Array()], end: [9] };
  for (const change of Object.values(UNREADABLE)) {
    await put(store, ["key"], "value");
    database.exec(`update kv set ${change}`);
    await assertRejects(() => store.list(range, { limit: 9 }), StoreDamagedError);
    await assertRejects(() => store.snapshot([], [range], { limit: 9 }), StoreDamagedError);
    // The snapshot has ended, so what is written later is read.
    database.exec("delete from kv");
    assertEquals(await store.list(range, { limit: 9 }), []);
  }
  store.close();
});

test("A snapshot of a SqliteStore rejects with NotAppliedError while the file is locked, and the next one sees the newest records", async () => {
  await using temp = await TempStore.make();
  {
    using kv = await Deno.openKv(temp.kvPath);
    await kv.set(["key"], utf8("old"));
  }
  using other = new DatabaseSync(temp.kvPath);
  // In this mode, unlike in that of the service, who writes locks out who reads.
  other.exec("pragma journal_mode = delete");
  const store = new SqliteStore(new SqliteReader(temp.kvPath, 0), NO_WRITER);
  const read = async () => {
    const { entries, lists } = await store.snapshot([["key"]], [{ prefix: [] }], { limit: 9 });
    return [...entries, ...lists[0]].map((entry) => entry?.value);
  };
  other.exec("begin exclusive");
  await assertRejects(read, NotAppliedError, "locked");
  await assertRejects(read, NotAppliedError, "locked");
  other.prepare("update kv set v = ?").run(utf8("new"));
  other.exec("commit");
  assertEquals(await read(), [utf8("new"), utf8("new")]);
  // No snapshot keeps the lock of a reader.
  other.exec("begin exclusive; rollback");
  store.close();
});

/** The tables and indexes with their columns, and what SQLite and Deno KV say about themselves in a new file. */
function describeFile(path: string) {
  using database = new DatabaseSync(path);
  const rows = (query: string) => database.prepare(query).all();
  const objects = rows("select type, name, tbl_name from sqlite_schema order by type, name");
  const describe = (name: unknown) => [
    rows(`select * from pragma_table_xinfo('${name}')`),
    rows(`select * from pragma_index_xinfo('${name}')`),
    rows(`select * from pragma_table_list('${name}')`),
  ];
  const pragmas = ["journal_mode", "page_size", "auto_vacuum", "encoding", "user_version"];
  return {
    objects: objects.map((object) => [object, describe(object.name)]),
    pragmas: pragmas.map((name) => rows(`pragma ${name}`)),
    migrations: rows("select * from migration_state"),
    versions: rows("select * from data_version"),
  };
}
