import { APPLICATION } from "../../src/application.ts";
import { assertRejects } from "@std/assert";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { acceptLog } from "../../src/eventstore_less/log/accept_store.ts";
import { openKvConnectStore } from "../../src/eventstore_less/store/deno_kv/kv_connect_store.ts";
import { KvStore } from "../../src/eventstore_less/store/deno_kv/kv_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import {
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../src/eventstore_less/store/store_errors.ts";
import { put, testStoreContract } from "../support/store_contract.ts";
import { DENOKV, DenokvServer } from "../support/denokv_server.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(DENOKV.need);

testStoreContract({
  name: "KvConnectStore",
  needs: [DENOKV.need],
  async open() {
    const server = await DenokvServer.start();
    return { store: await connectTo(server), dispose: () => server[Symbol.asyncDispose]() };
  },
});

testStoreContract({
  name: "KvStore of Deno.openKv() on denokv, as on Deno Deploy",
  needs: [DENOKV.need],
  // Each takes 50 ms and several attempts.
  snapshots: 30,
  async open() {
    const server = await DenokvServer.start();
    Deno.env.set("DENO_KV_ACCESS_TOKEN", server.secret);
    const store = new KvStore(await Deno.openKv(server.address), HEAD_KEY);
    return { store, dispose: () => server[Symbol.asyncDispose]() };
  },
});

test("KvConnectStore reads a head that is a text, as earlier formats have it, so that the store is refused with advice", async () => {
  await using server = await DenokvServer.start();
  const store = await connectTo(server);
  using kv = await Deno.openKv(server.address);
  await kv.set(HEAD_KEY, JSON.stringify({ format: 3 }));
  const advice = "it has format 3, of an older version; export it with";
  await assertRejects(() => acceptLog(APPLICATION, store), StoreRefusedError, advice);
  store.close();
});

test("KvConnectStore: the type of an error says whether a commit may have landed", async () => {
  await using server = await DenokvServer.start();
  const store = await connectTo(server);
  await assertRejects(() => store.get([]), StoreRefusedError);
  await assertRejects(() => put(store, [], ""), StoreRefusedError);
  await assertRejects(() => put(store, ["k".repeat(3_000)], ""), StoreRefusedError);
  await put(store, ["key"], "first");
  await server.kill();
  await assertRejects(() => put(store, ["key"], "second"), UnclearOutcomeError);
  await server.start();
  await put(store, ["key"], "third");
  store.close();
});

test("KvConnectStore.close() rejects a call that hangs", async () => {
  await using server = await DenokvServer.start();
  const store = await connectTo(server);
  await put(store, ["key"], "first");
  server.pause();
  const commit = assertRejects(() => put(store, ["key"], "second"), UnclearOutcomeError);
  await new Promise((resolve) => setTimeout(resolve, 50));
  store.close();
  await commit;
  server.resume();
});

function connectTo(server: DenokvServer): Promise<Store> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.secret);
  return openKvConnectStore(server.address, HEAD_KEY, new AbortController().signal);
}
