import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import { NotAttemptedError } from "../../../src/store/store_errors.ts";
import { permitted } from "../../support/permitted.ts";
import { testStoreContract } from "../../support/store_contract.ts";

testStoreContract({
  name: "KvStore in memory",
  open: async () => ({ store: new KvStore(await Deno.openKv(":memory:")) }),
});

testStoreContract({
  name: "KvStore on a file",
  ignore: !permitted("read", "write"),
  async open() {
    const folder = await Deno.makeTempDir();
    const store = new KvStore(await Deno.openKv(`${folder}/pets.sqlite3`));
    return { store, dispose: () => Deno.remove(folder, { recursive: true }) };
  },
});

Deno.test({
  // Takes the five seconds for which Deno KV waits for a lock.
  name: "KvStore rejects a commit with NotAttemptedError while another process locks the file",
  ignore: !permitted("read", "write"),
  async fn() {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/pets.sqlite3`;
    const store = new KvStore(await Deno.openKv(path));
    const commit = () =>
      store.commit({ checks: [], mutations: [{ type: "set", key: ["key"], value: "value" }] });
    const database = new DatabaseSync(path);
    try {
      database.exec("begin immediate");
      await assertRejects(commit, NotAttemptedError);
      database.exec("rollback");
      assertEquals(await store.get(["key"]), null);
      await commit();
      assertEquals((await store.get(["key"]))?.value, "value");
    } finally {
      database.close();
      store.close();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
