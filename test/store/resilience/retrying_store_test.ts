import { assertEquals, assertRejects } from "@std/assert";
import { RETRY_LIMIT_MS, RetryingStore } from "../../../src/store/resilience/retrying_store.ts";
import { NotAppliedError, StoreRefusedError } from "../../../src/store/store_errors.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { ModelStore } from "../../sim/model_store.ts";

/** A store whose first calls fail. */
function failing(failures: number) {
  const fault = <T>(apply: () => Promise<T>): Promise<T> =>
    failures-- > 0 ? Promise.reject(new NotAppliedError("The store is locked")) : apply();
  return faultyStore(new ModelStore(), { onGet: fault, onList: fault, onCommit: fault });
}

Deno.test("RetryingStore retries failed reads", async () => {
  const runtime = new FakeRuntime();
  const store = failing(5);
  const reading = new RetryingStore(store, runtime).list({ prefix: [] }, { limit: 10 });
  await runtime.advance(5_000);
  assertEquals(await reading, []);
  assertEquals(store.lists.length, 6);
});

Deno.test("RetryingStore rejects with the last error after RETRY_LIMIT_MS", async () => {
  const runtime = new FakeRuntime();
  const store = failing(Infinity);
  const reading = new RetryingStore(store, runtime).get(["head"]);
  const refused = assertRejects(() => reading, NotAppliedError);
  await runtime.advance(RETRY_LIMIT_MS + 1_000);
  await refused;
});

Deno.test("RetryingStore does not retry a read that the store refuses", async () => {
  const store = faultyStore(new ModelStore(), {
    onGet: () => Promise.reject(new StoreRefusedError("no rights")),
  });
  const reading = new RetryingStore(store, new FakeRuntime()).get(["head"]);
  await assertRejects(() => reading, StoreRefusedError);
  assertEquals(store.gets.length, 1);
});

Deno.test("RetryingStore does not retry a commit, because only its caller can find out whether it landed", async () => {
  const store = failing(1);
  const commit = { checks: [], mutations: [] };
  await assertRejects(() => new RetryingStore(store, new FakeRuntime()).commit(commit), Error);
  assertEquals(store.commits.length, 1);
});
