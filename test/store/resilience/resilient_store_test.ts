import { assert, assertEquals, assertLess, assertMatch, assertRejects } from "@std/assert";
import { reasonOf } from "../../../src/runtime/logger.ts";
import { ServiceError } from "../../../src/service_error.ts";
import {
  OUTSTANDING_LIMIT,
  ResilientStore,
  STORE_CALL_LIMIT_MS,
} from "../../../src/store/resilience/resilient_store.ts";
import { RetryingStore } from "../../../src/store/resilience/retrying_store.ts";
import { KV_LIMITS, KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import type { Key, Store } from "../../../src/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreDamagedError,
  StoreNotReachedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../src/store/store_errors.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { permitted } from "../../support/permitted.ts";
import { testStoreContract } from "../../support/store_contract.ts";

testStoreContract({
  name: "ResilientStore around a store in memory",
  async open() {
    const store = new KvStore(await Deno.openKv(":memory:"));
    return { store: new ResilientStore(store, new FakeRuntime()) };
  },
});

testStoreContract({
  name: "ResilientStore around a store on a file",
  ignore: !permitted("read", "write"),
  async open() {
    const folder = await Deno.makeTempDir();
    const store = new KvStore(await Deno.openKv(`${folder}/pets.sqlite3`));
    const dispose = () => Deno.remove(folder, { recursive: true });
    return { store: new ResilientStore(store, new FakeRuntime()), dispose };
  },
});

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  "get()": (store) => store.get(["key"]),
  "list()": (store) => store.list({ prefix: [] }, { limit: 1 }),
  "commit()": (store) => store.commit({ checks: [], mutations: [] }),
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`ResilientStore: ${name} rejects with store_unavailable if the store never answers`, async () => {
    const runtime = new FakeRuntime();
    let failure: unknown;
    const store = new ResilientStore(storeThat(() => new Promise(() => {})), runtime);
    const done = call(store).catch((thrown) => failure = thrown);
    await runtime.advance(STORE_CALL_LIMIT_MS - 1);
    assertEquals(failure, undefined);
    await runtime.advance(1);
    await done;
    assert(failure instanceof ServiceError);
    assertEquals(failure.code, "store_unavailable");
  });

  Deno.test(`ResilientStore: ${name} rejects with store_unavailable and the cause if the store fails`, async () => {
    const cause = new TypeError("error sending request");
    const store = new ResilientStore(storeThat(() => Promise.reject(cause)), new FakeRuntime());
    const failure = await assertRejects(() => call(store), ServiceError);
    assertEquals(failure.code, "store_unavailable");
    assertEquals(failure.cause, cause);
  });
}

for (const name of ["get()", "list()"]) {
  Deno.test(`ResilientStore: ${name} is retried while the store is locked`, async () => {
    const runtime = new FakeRuntime();
    let locks = 5;
    const inner = storeThat(() => locks-- > 0 ? Promise.reject(lockError()) : Promise.resolve([]));
    const reading = CALLS[name](new ResilientStore(inner, runtime));
    await runtime.advance(STORE_CALL_LIMIT_MS);
    assertEquals(await reading, []);
    assertEquals(locks, -1);
  });

  Deno.test(`ResilientStore: ${name} stops retrying if the store stays locked`, async () => {
    const runtime = new FakeRuntime();
    let calls = 0;
    const inner = storeThat(() => (calls++, Promise.reject(lockError())));
    let failure: unknown;
    const reading = CALLS[name](new ResilientStore(inner, runtime)).catch((thrown) =>
      failure = thrown
    );
    await runtime.advance(10 * STORE_CALL_LIMIT_MS);
    await reading;
    assert(failure instanceof ServiceError);
    assertEquals(failure.code, "store_unavailable");
    const atTheEnd = calls;
    await runtime.advance(10 * STORE_CALL_LIMIT_MS);
    assertEquals(calls, atTheEnd);
  });
}

Deno.test("ResilientStore: commit() is not retried if the store is locked, and rejects with NotAppliedError", async () => {
  let calls = 0;
  const inner = storeThat(() => (calls++, Promise.reject(lockError())));
  const store = new ResilientStore(inner, new FakeRuntime());
  await assertRejects(() => CALLS["commit()"](store), NotAppliedError);
  assertEquals(calls, 1);
});

/** A store that answers every call in the same way. */
function storeThat(answer: () => Promise<never[]>): Store {
  // deno-lint-ignore no-explicit-any -- one answer stands for those of three methods
  const call = answer as () => Promise<any>;
  return { limits: KV_LIMITS, get: call, list: call, commit: call, close: () => {} };
}

function lockError(): Error {
  return new NotAppliedError("The store is locked");
}

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

Deno.test("ResilientStore: while the circuit breaker is open, calls fail at once and are not made", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  await test.runtime.advance(500);
  const made = test.inner.calls.length;
  for (const call of Object.values(CALLS)) {
    const failure = await assertRejects(() => call(test.store), StoreAwayError);
    assertEquals(failure.code, "store_unavailable");
  }
  assertEquals(test.inner.calls.length, made);
});

Deno.test("ResilientStore: while the store is away, only its own probes hang", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  for (let second = 0; second < 100; second++) {
    test.store.get(["pet"]).catch(() => {});
    await test.runtime.advance(1_000);
  }
  // A probe is given up after two seconds.
  assertLess(test.inner.calls.length, 55);
  assertEquals(new Set(test.inner.calls), new Set(["get pet", "get head"]));
  assertEquals(test.inner.calls.filter((call) => call === "get pet").length, 1);
});

Deno.test("ResilientStore: calls succeed within a second of the store's return", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  await test.runtime.advance(20_000);
  test.inner.hangs = false;
  await test.runtime.advance(1_000);
  assertEquals(await test.store.get(["pet"]), null);
});

Deno.test("ResilientStore: calls succeed after the store's return although earlier calls hang forever", async () => {
  await using test = openFlakyStore();
  for (let outage = 0; outage < 20; outage++) {
    test.inner.hangs = true;
    await test.hangOnce();
    await test.runtime.advance(5_000);
    test.inner.hangs = false;
    await test.runtime.advance(3_000);
    assertEquals(await test.store.get(["pet"]), null);
  }
  test.inner.hangs = true;
  await test.hangOnce();
  await test.runtime.advance(60_000);
  test.inner.hangs = false;
  await test.runtime.advance(60_000);
  assertEquals(await test.store.get(["pet"]), null);
});

Deno.test("ResilientStore: reports that the store is away, repeats it once a minute, and reports its return", async () => {
  await using test = openFlakyStore();
  await test.hangOnce();
  await test.runtime.advance(130_000);
  test.inner.hangs = false;
  while (test.inner.answer());
  await test.runtime.advance(1_000);
  const away = ["warn", "store_away"];
  assertEquals(test.reports, [away, away, away, ["info", "store_back"]]);
});

Deno.test("ResilientStore: at most OUTSTANDING_LIMIT calls are in flight, and further ones wait", async () => {
  await using test = openFlakyStore();
  const reads = Array.from({ length: OUTSTANDING_LIMIT + 1 }, () => test.store.get(["pet"]));
  assertEquals(test.inner.calls.length, OUTSTANDING_LIMIT);
  test.inner.answer();
  await reads[0];
  await test.runtime.advance(1);
  assertEquals(test.inner.calls.length, OUTSTANDING_LIMIT + 1);
  while (test.inner.answer());
  assertEquals((await Promise.all(reads)).length, OUTSTANDING_LIMIT + 1);
});

Deno.test("ResilientStore: a call that waits too long rejects with StoreAwayError and is never made", async () => {
  await using test = openFlakyStore();
  const commits = Array.from({ length: OUTSTANDING_LIMIT + 1 }, () => test.commit());
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
  for (
    const call of [
      () => hanging,
      ...Object.values(CALLS).map((call) => () => call(test.store)),
    ]
  ) {
    assertEquals((await assertRejects(call, ServiceError)).code, "shutting_down");
  }
});

for (const name of ["get()", "list()"]) {
  Deno.test(`ResilientStore: ${name} is retried a limited number of times if a remote store fails`, async () => {
    const runtime = new FakeRuntime();
    for (const [losses, expected] of [[4, "answered"], [5, "failed"]] as const) {
      let lost = 0;
      const inner = storeThat(() =>
        lost++ < losses ? Promise.reject(new TypeError("broken pipe")) : Promise.resolve([])
      );
      const store = new ResilientStore({
        ...inner,
        connection: { reopen: () => Promise.resolve() },
      }, runtime);
      const outcome = CALLS[name](store).then(() => "answered", () => "failed");
      await runtime.advance(1_000);
      assertEquals(await outcome, expected);
      store.close();
    }
  });
}

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`ResilientStore: ${name} keeps the kind of an error, but not its message`, async () => {
    for (
      const [Kind, message] of [
        [StoreRefusedError, /^The store refused a (read|commit)$/],
        [StoreAwayError, /^The store cannot be reached$/],
        [UnclearOutcomeError, /^The store failed to (read|commit)$/],
        [NotAppliedError, /^The store cannot (read|commit) at the moment$/],
      ] as const
    ) {
      const cause = new Kind("10.0.0.7: secret of the operator");
      const runtime = new FakeRuntime();
      const store = new ResilientStore(storeThat(() => Promise.reject(cause)), runtime);
      const failure = await assertRejects(() => runtime.settle(call(store)), Kind);
      assertMatch(failure.message, message);
      assertEquals(failure.cause, cause);
      store.close();
    }
  });

  Deno.test(`ResilientStore: ${name} says that the store is not connected`, async () => {
    const cause = new StoreNotReachedError();
    const store = new ResilientStore(storeThat(() => Promise.reject(cause)), new FakeRuntime());
    const failure = await assertRejects(() => call(store), StoreAwayError);
    assertEquals(reasonOf(failure), "The store is not connected");
    store.close();
  });

  Deno.test(`ResilientStore: ${name} is made once if the store refuses it, and later calls are made`, async () => {
    let calls = 0;
    const refusal = new StoreRefusedError("too large");
    const inner = storeThat(() => (calls++, Promise.reject(refusal)));
    const connection = { reopen: () => Promise.reject(new Error("is not called")) };
    const store = new ResilientStore({ ...inner, connection }, new FakeRuntime());
    for (let call = 0; call < 3; call++) {
      await assertRejects(() => CALLS[name](store), StoreRefusedError);
    }
    assertEquals(calls, 3);
    store.close();
  });
}

Deno.test("ResilientStore: a damage of the file is reported once, is not retried, and lasts", async () => {
  const reports: unknown[] = [];
  let calls = 0;
  const damage = new StoreDamagedError("database disk image is malformed");
  const inner = storeThat(() => (calls++, Promise.reject(damage)));
  const runtime = new FakeRuntime();
  const resilient = new ResilientStore(inner, runtime, (...report) => reports.push(report));
  assertEquals(resilient.damage, undefined);
  const store = new RetryingStore(resilient, runtime);
  for (const call of Object.values(CALLS)) {
    const error = await assertRejects(() => call(store), StoreDamagedError);
    assertEquals(error.message, "The store's file is damaged");
  }
  assertEquals([calls, resilient.damage], [3, damage]);
  const { reason } = damage;
  const remedy = "Stop the service, run deno task audit, and follow its advice";
  assertEquals(reports, [["error", "store_damaged", { reason, remedy }]]);
  store.close();
});

Deno.test("ResilientStore: calls wait for the connection after one found the store away", async () => {
  const runtime = new FakeRuntime();
  let isThere = false;
  const inner = storeThat(() =>
    isThere ? Promise.resolve([]) : Promise.reject(new StoreAwayError("connection refused"))
  );
  const connection = {
    reopen: () => (isThere = true, Promise.resolve()),
  };
  const store = new ResilientStore({ ...inner, connection }, runtime);
  await assertRejects(() => CALLS["commit()"](store), StoreAwayError);
  const next = CALLS["commit()"](store);
  await runtime.advance(300);
  assertEquals(await next, []);
  store.close();
});

Deno.test("ResilientStore: a remote store's connection is replaced if a commit is not applied and none landed for a second", async () => {
  const runtime = new FakeRuntime();
  let isLocked = false;
  let reopened = 0;
  const store = new ResilientStore({
    ...storeThat(() => Promise.resolve([])),
    commit: () => isLocked ? Promise.reject(lockError()) : Promise.resolve("1"),
    connection: { reopen: () => (reopened++, Promise.resolve()) },
  }, runtime);
  const commit = () => CALLS["commit()"](store);
  await commit();
  isLocked = true;
  for (const [waitMs, expected] of [[999, 0], [1, 1], [999, 1], [1, 2]]) {
    await runtime.advance(waitMs);
    await assertRejects(commit, NotAppliedError);
    await runtime.advance(0);
    assertEquals(reopened, expected);
  }
  store.close();
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
  const reports: string[][] = [];
  const store = new ResilientStore(inner, runtime, (level, event) => reports.push([level, event]));
  return {
    runtime,
    inner,
    reports,
    store,
    commit: () => CALLS["commit()"](store),
    /** Makes one call that reaches its time limit, and answers it afterwards. */
    async hangOnce() {
      const call = assertRejects(() => store.get(["pet"]), ServiceError);
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
