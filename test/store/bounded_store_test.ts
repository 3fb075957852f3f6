import { assert, assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/failure.ts";
import { BoundedStore, STORE_CALL_LIMIT_MS } from "../../src/store/bounded_store.ts";
import { KvStore } from "../../src/store/kv_store.ts";
import type { Store } from "../../src/store/store.ts";
import { FakeHost } from "../fake_host.ts";
import { permitted } from "../permitted.ts";
import { testStoreContract } from "./store_contract.ts";

testStoreContract({
  name: "BoundedStore around a store in memory",
  async open() {
    const store = new KvStore(await Deno.openKv(":memory:"));
    return { store: new BoundedStore(store, new FakeHost()) };
  },
});

testStoreContract({
  name: "BoundedStore around a store on a file",
  ignore: !permitted("read", "write"),
  async open() {
    const folder = await Deno.makeTempDir();
    const store = new KvStore(await Deno.openKv(`${folder}/pets.sqlite3`));
    const dispose = () => Deno.remove(folder, { recursive: true });
    return { store: new BoundedStore(store, new FakeHost()), dispose };
  },
});

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  "get()": (store) => store.get(["key"]),
  "list()": (store) => store.list({ prefix: [] }, { limit: 1 }),
  "commit()": (store) => store.commit({ checks: [], mutations: [] }),
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`BoundedStore: ${name} fails as store_unavailable when the store never answers`, async () => {
    const host = new FakeHost();
    let failure: unknown;
    const store = new BoundedStore(storeThat(() => new Promise(() => {})), host);
    const done = call(store).catch((thrown) => failure = thrown);
    await host.advance(STORE_CALL_LIMIT_MS - 1);
    assertEquals(failure, undefined);
    await host.advance(1);
    await done;
    assert(failure instanceof Failure);
    assertEquals(failure.code, "store_unavailable");
  });

  Deno.test(`BoundedStore: ${name} fails as store_unavailable, with the cause, when the store fails`, async () => {
    const cause = new TypeError("error sending request");
    const store = new BoundedStore(storeThat(() => Promise.reject(cause)), new FakeHost());
    const failure = await assertRejects(() => call(store), Failure);
    assertEquals(failure.code, "store_unavailable");
    assertEquals(failure.cause, cause);
  });
}

for (const name of ["get()", "list()"]) {
  Deno.test(`BoundedStore: ${name} is repeated for as long as the file is locked`, async () => {
    const host = new FakeHost();
    let locks = 5;
    const inner = storeThat(() => locks-- > 0 ? Promise.reject(lockError()) : Promise.resolve([]));
    const reading = CALLS[name](new BoundedStore(inner, host));
    await host.advance(STORE_CALL_LIMIT_MS);
    assertEquals(await reading, []);
    assertEquals(locks, -1);
  });

  Deno.test(`BoundedStore: ${name} gives up on a lock that stays`, async () => {
    const host = new FakeHost();
    let calls = 0;
    const inner = storeThat(() => (calls++, Promise.reject(lockError())));
    let failure: unknown;
    const reading = CALLS[name](new BoundedStore(inner, host)).catch((thrown) => failure = thrown);
    await host.advance(10 * STORE_CALL_LIMIT_MS);
    await reading;
    assert(failure instanceof Failure);
    assertEquals(failure.code, "store_unavailable");
    const atTheEnd = calls;
    await host.advance(10 * STORE_CALL_LIMIT_MS);
    assertEquals(calls, atTheEnd);
  });
}

Deno.test("BoundedStore: commit() is not repeated when the file is locked", async () => {
  let calls = 0;
  const inner = storeThat(() => (calls++, Promise.reject(lockError())));
  await assertRejects(() => CALLS["commit()"](new BoundedStore(inner, new FakeHost())), Failure);
  assertEquals(calls, 1);
});

/** A store that answers every call alike. */
function storeThat(answer: () => Promise<never[]>): Store {
  // deno-lint-ignore no-explicit-any -- one answer stands for those of three methods
  const call = answer as () => Promise<any>;
  return { get: call, list: call, commit: call, close: () => {} };
}

function lockError(): Error {
  return new TypeError("database is locked");
}
