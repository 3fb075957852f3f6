import { assertEquals } from "@std/assert";
import { testStoreContract } from "../support/store_contract.ts";
import { utf8 } from "../support/utf8.ts";
import { ModelStore } from "./model_store.ts";

testStoreContract({
  name: "ModelStore",
  open: () => Promise.resolve({ store: new ModelStore() }),
});

Deno.test("ModelStore removes an expired record after the store's lag", async () => {
  let now = 0;
  const store = new ModelStore({ now: () => now, expiryLagMs: () => 50 });
  const mutation = { type: "set" as const, key: ["brief"], value: utf8("value"), expireIn: 100 };
  await store.commit({ checks: [], mutations: [mutation] });
  now = 149;
  assertEquals((await store.get(["brief"]))?.value, utf8("value"));
  now = 150;
  assertEquals(await store.get(["brief"]), null);
  assertEquals(await store.list({ prefix: [] }, { limit: 1 }), []);
});
