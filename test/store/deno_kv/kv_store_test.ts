import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { GUARD_KEYS } from "../../../src/keyspace.ts";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import { openStore } from "../../../src/store/open_store.ts";
import { systemRuntime } from "../../../src/runtime/system_runtime.ts";
import type { Key, Store } from "../../../src/store/store.ts";
import { NotAppliedError, StoreFullError } from "../../../src/store/store_errors.ts";
import { permitted } from "../../support/permitted.ts";
import { testStoreContract } from "../../support/store_contract.ts";
import { testIf } from "../../support/test_if.ts";

const test = testIf(permitted("read", "write"));

testStoreContract({
  name: "KvStore in memory",
  open: async () => ({ store: new KvStore(await Deno.openKv(":memory:")) }),
});

testStoreContract({
  name: "KvStore on a file, as a service opens it",
  ignore: !permitted("read", "write"),
  async open() {
    const folder = await Deno.makeTempDir();
    const store = await openForService(`${folder}/pets.sqlite3`);
    return { store, dispose: () => Deno.remove(folder, { recursive: true }) };
  },
});

test("KvStore of a service reads while a commit waits for the disk, and reads it once it is acknowledged", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pets.sqlite3`;
  const store = await openForService(path);
  const put = (value: string) =>
    store.commit({ checks: [], mutations: [{ type: "set", key: ["key"], value }] });
  await put("old");
  // Like a slow disk, a lock keeps the thread of Deno KV in the commit.
  const database = new DatabaseSync(path);
  database.exec("begin immediate");
  let isOver = false;
  const committed = put("new").finally(() => isOver = true);
  committed.catch(() => {});
  try {
    assertEquals((await store.get(["key"]))?.value, "old");
    assertEquals((await store.list({ prefix: [] }, { limit: 2 })).length, 1);
    assert(!isOver, "the reads waited for the commit");
    database.exec("rollback");
    const versionstamp = (await committed)!;
    assertEquals(await store.get(["key"]), { key: ["key"], value: "new", versionstamp });
  } finally {
    database.close();
    store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

// Takes the five seconds for which Deno KV waits for a lock.
test("KvStore rejects a commit with NotAppliedError while another process locks the file", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pets.sqlite3`;
  const store = new KvStore(await Deno.openKv(path));
  const commit = (key: Key) =>
    store.commit({ checks: [], mutations: [{ type: "set", key, value: "value" }] });
  const database = new DatabaseSync(path);
  // Deno KV's own removal of expired records may wait for the lock first, for as long as it is held. Then
  // the commit is never rejected: the lock is released, and the next attempt decides.
  const isRejected = async (key: Key): Promise<boolean> => {
    database.exec("begin immediate");
    let isReleased = false;
    const release = () => {
      if (!isReleased) database.exec("rollback");
      isReleased = true;
    };
    const timer = setTimeout(release, 15_000);
    const outcome = await commit(key).catch((error) => error);
    clearTimeout(timer);
    release();
    return outcome instanceof NotAppliedError;
  };
  try {
    let attempt = 1;
    while (!await isRejected([attempt])) assertLess(++attempt, 4);
    assertEquals(await store.get([attempt]), null);
    await commit([attempt]);
    assertEquals((await store.get([attempt]))?.value, "value");
  } finally {
    database.close();
    store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("KvStore rejects a commit with StoreFullError if SQLite reports a full disk", async () => {
  using kv = await Deno.openKv(":memory:");
  const fail = () => Promise.reject(new TypeError("database or disk is full"));
  kv.atomic = () => Object.assign(new Deno.AtomicOperation(), { commit: fail });
  const commit = () => new KvStore(kv).commit({ checks: [], mutations: [] });
  await assertRejects(commit, StoreFullError);
});

function openForService(path: string): Promise<Store> {
  return openStore({ kind: "file", path, isDefault: false }, {
    create: true,
    accept: async () => {},
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    onRefused: () => {},
  });
}
