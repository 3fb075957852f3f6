import { assertEquals, assertLess, assertMatch, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import { reasonOf } from "../../../src/runtime/logger.ts";
import { KV_LIMITS, KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import {
  OUTSTANDING_LIMIT,
  ResilientStore,
  type ResilientStoreOptions,
  RETRY_LIMIT_MS,
  STORE_CALL_LIMIT_MS,
} from "../../../src/store/resilience/resilient_store.ts";
import type { Key, Store } from "../../../src/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreNotReachedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../src/store/store_errors.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { permitted } from "../../support/permitted.ts";
import { testStoreContract } from "../../support/store_contract.ts";

testStoreContract({
  name: "ResilientStore around a store on a file",
  ignore: !permitted("read", "write"),
  async open() {
    const folder = await Deno.makeTempDir();
    const store = new KvStore(await Deno.openKv(`${folder}/pets.sqlite3`));
    const dispose = () => Deno.remove(folder, { recursive: true });
    return { store: new ResilientStore(store, options()), dispose };
  },
});

function options(more: Partial<ResilientStoreOptions> = {}): ResilientStoreOptions {
  return { runtime: new FakeRuntime(), probeKey: ["head"], ...more };
}

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  "get()": (store) => store.get(["key"]),
  "list()": (store) => store.list({ prefix: [] }, { limit: 1 }),
  "commit()": (store) => store.commit({ checks: [], mutations: [] }),
};
const READS = ["get()", "list()"].map((name) => [name, CALLS[name]] as const);

/** A store that answers every call in the same way. */
function storeThat(answer: () => Promise<never[]>, more: Partial<Store> = {}): Store {
  // deno-lint-ignore no-explicit-any -- one answer stands for those of three methods
  const call = answer as () => Promise<any>;
  return { limits: KV_LIMITS, get: call, list: call, commit: call, close: () => {}, ...more };
}

/** Calls that fail so many times, then succeed. */
function failing(failures: number, error: Error = lockError()) {
  return spy(() => failures-- > 0 ? Promise.reject(error) : Promise.resolve([]));
}

function lockError(): Error {
  return new NotAppliedError("The store is locked");
}

/** Lets time pass until a call has settled. */
async function outcomeAfter(runtime: FakeRuntime, ms: number, call: Promise<unknown>) {
  const outcome = call.catch((error) => error);
  await runtime.advance(ms);
  return await outcome;
}

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`ResilientStore: ${name} rejects at STORE_CALL_LIMIT_MS if the store never answers`, async () => {
    const runtime = new FakeRuntime();
    const onSettled = spy(() => {});
    const store = new ResilientStore(storeThat(() => new Promise(() => {})), options({ runtime }));
    const failed = assertRejects(() => call(store).finally(onSettled), UnclearOutcomeError);
    await runtime.advance(STORE_CALL_LIMIT_MS - 1);
    assertEquals(onSettled.calls.length, 0);
    await runtime.advance(1);
    await failed;
  });

  Deno.test(`ResilientStore: ${name} keeps the kind of an error, but not its message`, async () => {
    for (
      const [cause, Kind, message] of [
        [new StoreRefusedError("secret"), StoreRefusedError, /^The store refused a (read|commit)$/],
        [new StoreAwayError("secret"), StoreAwayError, /^The store cannot be reached$/],
        [
          new UnclearOutcomeError("secret"),
          UnclearOutcomeError,
          /^The store failed to (read|commit)$/,
        ],
        [new TypeError("secret"), UnclearOutcomeError, /^The store failed to (read|commit)$/],
        [lockError(), NotAppliedError, /^The store cannot (read|commit) at the moment$/],
      ] as const
    ) {
      const runtime = new FakeRuntime();
      const store = new ResilientStore(failingStore(cause), options({ runtime }));
      const failure = await assertRejects(() => runtime.settle(call(store)), Kind);
      assertMatch(failure.message, message);
      assertEquals(failure.cause, cause);
      store.close();
    }
  });

  Deno.test(`ResilientStore: ${name} says that the store is not connected`, async () => {
    const store = new ResilientStore(failingStore(new StoreNotReachedError()), options());
    const failure = await assertRejects(() => call(store), StoreAwayError);
    assertEquals(reasonOf(failure), "The store is not connected");
    store.close();
  });

  Deno.test(`ResilientStore: ${name} is made once if the store refuses it, and later calls are made`, async () => {
    const refused = failing(Infinity, new StoreRefusedError("too large"));
    const connection = { reopen: () => Promise.reject(new Error("is not called")) };
    const store = new ResilientStore(
      storeThat(refused, { connection }),
      options({ retryReadsMs: RETRY_LIMIT_MS }),
    );
    for (let call = 0; call < 3; call++) {
      await assertRejects(() => CALLS[name](store), StoreRefusedError);
    }
    assertEquals(refused.calls.length, 3);
    store.close();
  });
}

function failingStore(error: Error): Store {
  return storeThat(() => Promise.reject(error));
}

for (const [name, call] of READS) {
  Deno.test(`ResilientStore: ${name} is retried while the store is locked, within its limit`, async () => {
    const runtime = new FakeRuntime();
    const answer = failing(5);
    const store = new ResilientStore(storeThat(answer), options({ runtime }));
    assertEquals(await outcomeAfter(runtime, STORE_CALL_LIMIT_MS, call(store)), []);
    assertEquals(answer.calls.length, 6);

    const locked = failing(Infinity);
    const other = new ResilientStore(storeThat(locked), options({ runtime }));
    const failure = await outcomeAfter(runtime, STORE_CALL_LIMIT_MS, call(other));
    assertEquals((failure as Error).name, "NotAppliedError");
    const atTheEnd = locked.calls.length;
    await runtime.advance(10 * STORE_CALL_LIMIT_MS);
    assertEquals(locked.calls.length, atTheEnd);
  });

  Deno.test(`ResilientStore: ${name} is retried a limited number of times if a remote store fails`, async () => {
    const connection = { reopen: () => Promise.resolve() };
    for (const [losses, expected] of [[4, "Array"], [5, "UnclearOutcomeError"]] as const) {
      const runtime = new FakeRuntime();
      const answer = failing(losses, new TypeError("broken pipe"));
      const store = new ResilientStore(storeThat(answer, { connection }), options({ runtime }));
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
    await runtime.advance(RETRY_LIMIT_MS - 10 * STORE_CALL_LIMIT_MS);
    isAway = false;
    assertEquals(await outcomeAfter(runtime, 2 * STORE_CALL_LIMIT_MS, reading), []);
    isAway = true;
    const failure = await outcomeAfter(runtime, RETRY_LIMIT_MS + STORE_CALL_LIMIT_MS, call(store));
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
  assertEquals([answer.calls.length, store.damage], [3, damage]);
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
  const connection = { reopen: () => (isThere = true, Promise.resolve()) };
  const store = new ResilientStore(storeThat(answer, { connection }), options({ runtime }));
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
      connection: { reopen },
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

Deno.test("ResilientStore: a call after a hanging one waits for a probe and is made when the probe is answered", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  const next = test.store.list({ prefix: [] }, { limit: 1 });
  await test.runtime.advance(1);
  assertEquals(test.inner.calls, ["get pet", "get head"]);
  test.inner.answer();
  await test.runtime.advance(1);
  test.inner.answer();
  assertEquals(await next, []);
  assertEquals(test.inner.calls, ["get pet", "get head", "list"]);
  assertEquals(test.reports, []);
});

Deno.test("ResilientStore: while the store is away, calls fail at once, and only probes are made", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  await test.runtime.advance(500);
  for (let second = 0; second < 100; second++) {
    for (const call of Object.values(CALLS)) {
      await assertRejects(() => call(test.store), StoreAwayError);
    }
    await test.runtime.advance(1_000);
  }
  // A probe is given up after two seconds.
  assertLess(test.inner.calls.length, 55);
  assertEquals(new Set(test.inner.calls.slice(1)), new Set(["get head"]));
});

Deno.test("ResilientStore: calls succeed a second after the store's return, although earlier calls hang forever", async () => {
  await using test = openFlakyStore();
  for (let outage = 0; outage < 20; outage++) {
    test.inner.hangs = true;
    await test.hangOnce();
    await test.runtime.advance(20_000);
    test.inner.hangs = false;
    await test.runtime.advance(1_000);
    assertEquals(await test.store.get(["pet"]), null);
  }
});

Deno.test("ResilientStore: at most OUTSTANDING_LIMIT calls are in flight; one that waits too long is never made", async () => {
  await using test = openFlakyStore();
  const commits = Array.from(
    { length: OUTSTANDING_LIMIT + 1 },
    () => CALLS["commit()"](test.store),
  );
  const failures = Promise.all(commits.map((commit) => commit.catch((thrown) => thrown)));
  await test.runtime.advance(STORE_CALL_LIMIT_MS);
  const notMade = (await failures).map((failure) => failure instanceof StoreAwayError);
  assertEquals(notMade.indexOf(true), OUTSTANDING_LIMIT);
  while (test.inner.answer());
  await test.runtime.advance(1_000);
  while (test.inner.answer());
  assertEquals(test.inner.calls.filter((call) => call === "commit").length, OUTSTANDING_LIMIT);
});

Deno.test("ResilientStore: close() rejects unanswered calls and every later call", async () => {
  await using test = openFlakyStore();
  const hanging = test.store.get(["pet"]);
  test.store.close();
  await assertRejects(() => hanging, StoreClosedError);
  for (const call of Object.values(CALLS)) {
    await assertRejects(() => call(test.store), StoreClosedError, "The service is shutting down");
  }
});

/** A store whose calls hang until {@linkcode answer}, or not at all if `hangs` is false. */
class HangingStore implements Store {
  readonly limits = KV_LIMITS;
  hangs = true;
  readonly calls: string[] = [];
  #answers: (() => void)[] = [];

  get = (key: Key) => this.#call(`get ${String(key[0])}`, null);
  list = () => this.#call("list", []);
  commit = () => this.#call("commit", null);
  close = () => {};

  /** Answers the oldest hanging call. Returns whether there was one. */
  answer(): boolean {
    const answer = this.#answers.shift();
    answer?.();
    return answer !== undefined;
  }

  #call<T>(name: string, value: T): Promise<T> {
    this.calls.push(name);
    if (!this.hangs) return Promise.resolve(value);
    return new Promise((resolve) => this.#answers.push(() => resolve(value)));
  }
}

function openFlakyStore() {
  const runtime = new FakeRuntime();
  const inner = new HangingStore();
  const reports: string[] = [];
  const report = (_level: string, event: string) => void reports.push(event);
  const store = new ResilientStore(inner, options({ runtime, report }));
  return {
    runtime,
    inner,
    reports,
    store,
    /** Makes one call that reaches its time limit, and answers it afterwards. */
    async hangOnce() {
      const call = assertRejects(() => store.get(["pet"]), UnclearOutcomeError);
      await runtime.advance(STORE_CALL_LIMIT_MS);
      await call;
      inner.answer();
    },
    [Symbol.asyncDispose]: () => {
      store.close();
      return runtime.advance(1_000);
    },
  };
}
