import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
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
