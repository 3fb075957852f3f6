import { assertEquals, assertRejects } from "@std/assert";
import { HEAD_KEY } from "../../../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { NotAppliedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { commit, set, testStoreContract } from "../../../support/store_contract.ts";
import { utf8 } from "../../../support/utf8.ts";

testStoreContract({
  name: "KvStore, on a Deno KV in memory instead of an attached one",
  open: async () => ({ store: new KvStore(await Deno.openKv(":memory:"), HEAD_KEY) }),
});

Deno.test("KvStore.snapshot() rejects with NotAppliedError if a commit comes between all its reads", async () => {
  const kv = await Deno.openKv(":memory:");
  const store = new KvStore(kv, HEAD_KEY);
  const getMany = kv.getMany.bind(kv);
  let commits = 0;
  let maxCommits = Infinity;
  const commitBefore = async (keys: readonly Deno.KvKey[]) => {
    const isRead = keys[0][0] === "key";
    if (isRead && commits < maxCommits) {
      commits++;
      await commit(store, [set(HEAD_KEY, "head"), set(["key"], `${commits}`)]);
    }
    return await getMany(keys);
  };
  kv.getMany = commitBefore as typeof kv.getMany;
  const snapshot = () => store.snapshot([["key"]], [{ prefix: [] }], { limit: 10 });
  await assertRejects(snapshot, NotAppliedError, "Commits came between 30 reads of a snapshot");
  assertEquals(commits, 30);
  maxCommits = 35;
  const { entries, lists } = await snapshot();
  assertEquals(entries.map((entry) => entry?.value), [utf8("35")]);
  assertEquals(lists[0].map(({ value }) => value), [utf8("head"), utf8("35")]);
  store.close();
});
