import { assertEquals, assertRejects } from "@std/assert";
import { reconnectingStore } from "../../../../src/eventstore_less/store/resilience/reconnecting_store.ts";
import type { Store } from "../../../../src/eventstore_less/store/store.ts";
import { StoreAwayError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { ModelStore } from "../../../sim/model_store.ts";

/** A store whose connections the test opens, with a log of what happened to them. */
function makeStore() {
  const log: string[] = [];
  const attempts: PromiseWithResolvers<Store>[] = [];
  const connect = () => {
    const attempt = Promise.withResolvers<Store>();
    attempts.push(attempt);
    return attempt.promise;
  };
  const accept = () => Promise.resolve(void log.push("accept"));
  const store = reconnectingStore(connect, accept, () => log.push("refused"));
  const reopen = (signal = new AbortController().signal) => store.reopen(signal);
  const connection = (name: string): Store =>
    Object.assign(new ModelStore(), {
      get: () => Promise.resolve({ key: [], value: name, versionstamp: "" }),
      close: () => log.push(`close ${name}`),
    });
  return { store, log, attempts, reopen, connection };
}

Deno.test("reconnectingStore(): an attempt that fails makes room for the next one", async () => {
  const { store, log, attempts, reopen, connection } = makeStore();
  const first = reopen();
  attempts[0].resolve(connection("first"));
  await first;
  const second = reopen();
  assertEquals((await store.get([]))?.value, "first");
  attempts[1].reject(new StoreAwayError("too many connections"));
  await assertRejects(() => second, StoreAwayError);
  await assertRejects(() => store.get([]), StoreAwayError, "The store is not connected");
  assertEquals(log, ["accept", "close first"]);
});

Deno.test("reconnectingStore(): a late failure does not close a newer connection", async () => {
  const { store, log, attempts, reopen, connection } = makeStore();
  const opening = [reopen(), reopen()];
  attempts[0].resolve(connection("first"));
  await opening[0];
  const late = reopen();
  attempts[1].resolve(connection("second"));
  await opening[1];
  attempts[2].reject(new StoreAwayError("it does not answer"));
  await assertRejects(() => late, StoreAwayError);
  assertEquals((await store.get([]))?.value, "second");
  assertEquals(log.filter((line) => line !== "accept"), ["close first"]);
});

Deno.test("reconnectingStore() closes a connection that comes after its signal aborted, or after close()", async () => {
  const { store, log, attempts, reopen, connection } = makeStore();
  const aborted = reopen(AbortSignal.abort(new StoreAwayError("late")));
  attempts[0].resolve(connection("first"));
  await assertRejects(() => aborted, StoreAwayError, "late");
  const closed = reopen();
  store.close();
  attempts[1].resolve(connection("second"));
  await assertRejects(() => closed, StoreAwayError, "The store is closed");
  assertEquals(log, ["close first", "accept", "close second"]);
});
