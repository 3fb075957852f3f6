import { SqliteStore } from "eventstore-less/store/sqlite/sqlite_store.ts";
import { testStoreContract } from "../../../support/store_contract.ts";
import { TempStore } from "../../../support/temp_store.ts";
import { permissions } from "../../../support/test_needing.ts";

const FILES = permissions("read", "write");

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
