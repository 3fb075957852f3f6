import { systemRuntime } from "eventstore-less/startup";
import { assertEquals, assertLess } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { GUARD_KEYS } from "../../../../src/eventstore_less/keyspace.ts";
import { openStore } from "../../../../src/eventstore_less/store/open_store.ts";
import type { Key } from "../../../../src/eventstore_less/store/store.ts";
import { NotAppliedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";
import { put, testStoreContract } from "../../../support/store_contract.ts";
import { utf8 } from "../../../support/utf8.ts";

const FILES = permissions("read", "write");
const test = testNeeding(FILES);

testStoreContract({
  name: "SqliteStore with a KvWriter, on a file",
  needs: [FILES],
  open: openFile,
});

test("KvWriter: a store rejects a commit with NotAppliedError while another process locks the file", async () => {
  const { store, path, dispose } = await openFile();
  using database = new DatabaseSync(path, { timeout: 10_000 });
  // Deno KV's own removal of expired records may wait for the lock first, for as long as it is held. Then
  // the commit is never rejected: the lock is released, and the next attempt decides.
  const isRejected = async (key: Key): Promise<boolean> => {
    database.exec("begin immediate");
    const release = () => database.isTransaction && database.exec("rollback");
    const timer = setTimeout(release, 8_000);
    const outcome = await put(store, key, "value").catch((error) => error);
    clearTimeout(timer);
    release();
    return outcome instanceof NotAppliedError;
  };
  let attempt = 1;
  while (!await isRejected([attempt])) assertLess(++attempt, 4);
  assertEquals(await store.get([attempt]), null);
  await put(store, [attempt], "value");
  assertEquals((await store.get([attempt]))?.value, utf8("value"));
  store.close();
  await dispose();
});

/** Opens a new file as a service does. */
async function openFile() {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pets.sqlite3`;
  const store = await openStore({ kind: "file", path, isDefault: false }, {
    program: "animal-store",
    create: true,
    accept: async () => {},
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    service: { onRefused: () => {} },
  });
  return { store, path, dispose: () => Deno.remove(folder, { recursive: true }) };
}
