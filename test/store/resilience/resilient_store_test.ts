import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import { CALL_LIMIT_MS } from "../../../src/store/resilience/circuit_breaker.ts";
import {
  ResilientStore,
  type ResilientStoreOptions,
  RETRY_LIMIT_MS,
} from "../../../src/store/resilience/resilient_store.ts";
import { type Store, STORE_LIMITS } from "../../../src/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../src/store/store_errors.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { testStoreContract } from "../../support/store_contract.ts";

testStoreContract({
  name: "ResilientStore",
  async open() {
    const store = new KvStore(await Deno.openKv(":memory:"));
    return { store: new ResilientStore(store, options()) };
  },
});

function options(more: Partial<ResilientStoreOptions> = {}): ResilientStoreOptions {
  return { runtime: new FakeRuntime(), probeKey: ["head"], ...more };
}

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  "get()": (store) => store.get(["key"]),
  "getMany()": (store) => store.getMany([["key"]]),
  "list()": (store) => store.list({ prefix: [] }, { limit: 1 }),
  "commit()": (store) => store.commit({ checks: [], mutations: [] }),
};
const READS = ["get()", "getMany()", "list()"].map((name) => [name, CALLS[name]] as const);

/** A store that answers every call in the same way. */
function storeThat(answer: () => Promise<never[]>, more: Partial<Store> = {}): Store {
  // deno-lint-ignore no-explicit-any -- one answer stands for those of three methods
  const call = answer as () => Promise<any>;
  return {
    limits: STORE_LIMITS,
    get: call,
    getMany: call,
    list: call,
    commit: call,
    close() {},
    ...more,
  };
}

/** Calls that fail so many times, then succeed. */
function failing(failures: number, error: Error = lockError()) {
  return spy(() => failures-- > 0 ? Promise.reject(error) : Promise.resolve([]));
}

function lockError(): Error {
  return new NotAppliedError("The store is locked");
}

/** Errors of a store, and their kinds and messages for callers. */
const KINDS = [
  [new StoreRefusedError("secret"), StoreRefusedError, /^The store refused a (read|commit)$/],
  [new StoreAwayError("secret"), StoreAwayError, /^The store cannot be reached$/],
  [new UnclearOutcomeError("secret"), UnclearOutcomeError, /^The store failed to (read|commit)$/],
  [new TypeError("secret"), UnclearOutcomeError, /^The store failed to (read|commit)$/],
  [lockError(), NotAppliedError, /^The store cannot (read|commit) at the moment$/],
] as const;

/** Lets time pass until a call has settled. */
async function outcomeAfter(runtime: FakeRuntime, ms: number, call: Promise<unknown>) {
  const outcome = call.catch((error) => error);
  await runtime.advance(ms);
  return await outcome;
}

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`ResilientStore: ${name} rejects at CALL_LIMIT_MS if the store never answers`, async () => {
    const runtime = new FakeRuntime();
    const onSettled = spy(() => {});
    const store = new ResilientStore(storeThat(() => new Promise(() => {})), options({ runtime }));
    const failed = assertRejects(() => call(store).finally(onSettled), UnclearOutcomeError);
    await runtime.advance(CALL_LIMIT_MS - 1);
    assertEquals(onSettled.calls.length, 0);
    await runtime.advance(1);
    await failed;
  });

  Deno.test(`ResilientStore: ${name} keeps the kind of an error, but not its message`, async () => {
    for (const [cause, Kind, message] of KINDS) {
      const runtime = new FakeRuntime();
      const store = new ResilientStore(storeThat(failing(Infinity, cause)), options({ runtime }));
      const failure = await assertRejects(() => runtime.settle(call(store)), Kind);
      assertMatch(failure.message, message);
      assertEquals(failure.cause, cause);
      store.close();
    }
  });

  Deno.test(`ResilientStore: ${name} is made once if the store refuses it, and later calls are made`, async () => {
    const refused = failing(Infinity, new StoreRefusedError("too large"));
    const reopen = () => Promise.reject(new Error("is not called"));
    const patient = options({ retryReadsMs: RETRY_LIMIT_MS });
    const store = new ResilientStore(storeThat(refused, { reopen }), patient);
    for (let calls = 0; calls < 3; calls++) {
      await assertRejects(() => call(store), StoreRefusedError);
    }
    assertEquals(refused.calls.length, 3);
    store.close();
  });
}

for (const [name, call] of READS) {
  Deno.test(`ResilientStore: ${name} is retried while the store is locked, within its limit`, async () => {
    const runtime = new FakeRuntime();
    const answer = failing(5);
    const store = new ResilientStore(storeThat(answer), options({ runtime }));
    assertEquals(await outcomeAfter(runtime, CALL_LIMIT_MS, call(store)), []);
    assertEquals(answer.calls.length, 6);

    const locked = failing(Infinity);
    const other = new ResilientStore(storeThat(locked), options({ runtime }));
    const failure = await outcomeAfter(runtime, CALL_LIMIT_MS, call(other));
    assertEquals((failure as Error).name, "NotAppliedError");
    const atTheEnd = locked.calls.length;
    await runtime.advance(10 * CALL_LIMIT_MS);
    assertEquals(locked.calls.length, atTheEnd);
  });

  Deno.test(`ResilientStore: ${name} is retried a limited number of times if a remote store fails`, async () => {
    const reopen = () => Promise.resolve();
    for (const [losses, expected] of [[4, "Array"], [5, "UnclearOutcomeError"]] as const) {
      const runtime = new FakeRuntime();
      const answer = failing(losses, new TypeError("broken pipe"));
      const store = new ResilientStore(storeThat(answer, { reopen }), options({ runtime }));
      const outcome = await outcomeAfter(runtime, 1_000, call(store));
      assertEquals((outcome as object).constructor.name, expected);
      store.close();
    }
  });

  Deno.test(`ResilientStore: with retryReadsMs, ${name} is repeated beyond the limit of a call`, async () => {
    const runtime = new FakeRuntime();
    let isAway = true;
    const answer = () => isAway ? Promise.reject(lockError()) : Promise.resolve([]);
    const patient = options({ runtime, retryReadsMs: RETRY_LIMIT_MS });
    const store = new ResilientStore(storeThat(answer), patient);
    const reading = call(store);
    await runtime.advance(RETRY_LIMIT_MS - 10 * CALL_LIMIT_MS);
    isAway = false;
    assertEquals(await outcomeAfter(runtime, 2 * CALL_LIMIT_MS, reading), []);
    isAway = true;
    const failure = await outcomeAfter(runtime, RETRY_LIMIT_MS + CALL_LIMIT_MS, call(store));
    assertEquals((failure as Error).name, "NotAppliedError");
  });
}

Deno.test("ResilientStore: commit() is not retried, because only its caller can find out whether it landed", async () => {
  const answer = failing(Infinity);
  const store = new ResilientStore(storeThat(answer), options({ retryReadsMs: RETRY_LIMIT_MS }));
  await assertRejects(() => CALLS["commit()"](store), NotAppliedError);
  assertEquals(answer.calls.length, 1);
});

Deno.test("ResilientStore: a damage of the file is reported once, is not retried, and lasts", async () => {
  const report = spy(() => {});
  const damage = new StoreDamagedError("database disk image is malformed");
  const answer = failing(Infinity, damage);
  const patient = options({ report, retryReadsMs: RETRY_LIMIT_MS });
  const store = new ResilientStore(storeThat(answer), patient);
  assertEquals(store.damage, undefined);
  for (const call of Object.values(CALLS)) {
    const error = await assertRejects(() => call(store), StoreDamagedError);
    assertEquals(error.message, "The store's file is damaged");
  }
  assertEquals([answer.calls.length, store.damage], [Object.keys(CALLS).length, damage]);
  const { reason } = damage;
  const remedy = "Stop the service, run deno task audit, and follow its advice";
  assertEquals<unknown>(report.calls.map(({ args }) => args), [
    ["error", "store_damaged", { reason, remedy }],
  ]);
  store.close();
});

Deno.test("ResilientStore: calls wait for the connection after one found the store away", async () => {
  const runtime = new FakeRuntime();
  let isThere = false;
  const answer = () =>
    isThere ? Promise.resolve([]) : Promise.reject(new StoreAwayError("refused"));
  const reopen = () => Promise.resolve(void (isThere = true));
  const store = new ResilientStore(storeThat(answer, { reopen }), options({ runtime }));
  await assertRejects(() => CALLS["commit()"](store), StoreAwayError);
  assertEquals(await outcomeAfter(runtime, 300, CALLS["commit()"](store)), []);
  store.close();
});

Deno.test("ResilientStore: a remote store's connection is replaced if a commit is not applied and none landed for a second", async () => {
  const runtime = new FakeRuntime();
  let isLocked = false;
  const reopen = spy(() => Promise.resolve());
  const store = new ResilientStore(
    storeThat(() => Promise.resolve([]), {
      commit: () => isLocked ? Promise.reject(lockError()) : Promise.resolve("1"),
      reopen,
    }),
    options({ runtime }),
  );
  const commit = () => CALLS["commit()"](store);
  await commit();
  isLocked = true;
  for (const [waitMs, expected] of [[999, 0], [1, 1], [999, 1], [1, 2]]) {
    await runtime.advance(waitMs);
    await assertRejects(commit, NotAppliedError);
    await runtime.advance(0);
    assertEquals(reopen.calls.length, expected);
  }
  store.close();
});

Deno.test("ResilientStore: calls succeed a second after the store's return, although earlier calls hang forever", async () => {
  const runtime = new FakeRuntime();
  let hangs = false;
  const answer = spy(() => hangs ? new Promise<never>(() => {}) : Promise.resolve([]));
  const store = new ResilientStore(storeThat(answer), options({ runtime }));
  for (let outage = 0; outage < 3; outage++) {
    hangs = true;
    const calls = Object.values(CALLS).map((call) =>
      assertRejects(() => call(store), UnclearOutcomeError)
    );
    await runtime.advance(CALL_LIMIT_MS);
    await Promise.all(calls);
    await runtime.advance(500);
    const probes = answer.calls.length;
    for (const call of Object.values(CALLS)) {
      await assertRejects(() => call(store), StoreAwayError, "The store does not answer");
    }
    assertEquals(answer.calls.length, probes);
    await runtime.advance(20_000);
    hangs = false;
    await runtime.advance(1_000);
    for (const call of Object.values(CALLS)) assertEquals(await call(store), []);
  }
  store.close();
});

Deno.test("ResilientStore: close() rejects unanswered calls and every later call", async () => {
  const store = new ResilientStore(storeThat(() => new Promise(() => {})), options());
  const hanging = store.get(["pet"]);
  store.close();
  await assertRejects(() => hanging, StoreClosedError);
  for (const call of Object.values(CALLS)) {
    await assertRejects(() => call(store), StoreClosedError, "The service is shutting down");
  }
});
