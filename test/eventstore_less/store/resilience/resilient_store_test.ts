import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import { CALL_LIMIT_MS } from "../../../../src/eventstore_less/store/resilience/circuit_breaker.ts";
import {
  ResilientStore,
  type ResilientStoreOptions,
  RETRY_LIMIT_MS,
} from "../../../../src/eventstore_less/store/resilience/resilient_store.ts";
import {
  type Store,
  STORE_LIMITS,
  WRITE_PROBE,
} from "../../../../src/eventstore_less/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../../src/eventstore_less/store/store_errors.ts";
import { FakeRuntime } from "eventstore-less/testing";

const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  "get()": (store) => store.get(["key"]),
  "list()": (store) => store.list({ prefix: [] }, { limit: 1 }),
  "snapshot()": (store) => store.snapshot([["key"]], [], { limit: 1 }),
  "commit()": (store) => store.commit(WRITE_PROBE),
};
const COMMIT = CALLS["commit()"];

/** Makes a ResilientStore on a store that answers every call in the same way, with its runtime. */
function storeThat(
  answer: () => Promise<unknown>,
  own: Partial<Store> = {},
  options: Partial<ResilientStoreOptions> = {},
) {
  const runtime = new FakeRuntime();
  // deno-lint-ignore no-explicit-any -- every method gives the same answer
  const call = answer as () => Promise<any>;
  const calls = { get: call, list: call, snapshot: call, commit: call };
  const inner = { limits: STORE_LIMITS, ...calls, close() {}, ...own };
  const store = new ResilientStore(inner, { runtime, probeKey: ["head"], ...options });
  return { store, runtime };
}

const hang = () => new Promise<never>(() => {});

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
    const { store, runtime } = storeThat(hang);
    const failure = await outcomeAfter(runtime, CALL_LIMIT_MS, call(store)) as Error;
    assert(failure instanceof UnclearOutcomeError);
    assertMatch(failure.message, /^The store did not answer a (read|commit) within 2000 ms$/);
  });

  Deno.test(`ResilientStore: ${name} keeps the kind of an error, but not its message`, async () => {
    for (const [cause, Kind, message] of KINDS) {
      const { store, runtime } = storeThat(failing(Infinity, cause));
      const failure = await assertRejects(() => runtime.settle(call(store)), Kind);
      assertMatch(failure.message, message);
      assertEquals(failure.cause, cause);
      store.close();
    }
  });

  Deno.test(`ResilientStore: ${name} is made once if the store refuses it, and later calls are made`, async () => {
    const refused = failing(Infinity, new StoreRefusedError("too large"));
    const reopen = () => Promise.reject(new Error("is not called"));
    const { store } = storeThat(refused, { reopen }, { retryReadsMs: RETRY_LIMIT_MS });
    for (let calls = 0; calls < 3; calls++) {
      await assertRejects(() => call(store), StoreRefusedError);
    }
    assertEquals(refused.calls.length, 3);
    store.close();
  });
}

for (const [name, call] of Object.entries(CALLS).filter(([, call]) => call !== COMMIT)) {
  Deno.test(`ResilientStore: ${name} is retried while the store is locked, within its limit`, async () => {
    const answer = failing(5);
    const { store, runtime } = storeThat(answer);
    assertEquals(await outcomeAfter(runtime, CALL_LIMIT_MS, call(store)), []);
    assertEquals(answer.calls.length, 6);

    const locked = failing(Infinity);
    const lasting = storeThat(locked);
    const failure = await outcomeAfter(lasting.runtime, CALL_LIMIT_MS, call(lasting.store));
    assert(failure instanceof NotAppliedError);
    const atTheEnd = locked.calls.length;
    await lasting.runtime.advance(10 * CALL_LIMIT_MS);
    assertEquals(locked.calls.length, atTheEnd);
  });

  Deno.test(`ResilientStore: ${name} is retried once if a remote store fails, on a new connection`, async () => {
    for (const Failure of [TypeError, UnclearOutcomeError, StoreAwayError]) {
      let isConnected = false;
      const reopen = spy(() => Promise.resolve(void (isConnected = true)));
      const answer = spy(() => {
        return isConnected ? Promise.resolve([]) : Promise.reject(new Failure("broken pipe"));
      });
      const { store, runtime } = storeThat(answer, { reopen });
      assertEquals(await outcomeAfter(runtime, 1_000, call(store)), []);
      assertEquals(reopen.calls.length, 1);
      store.close();
    }
    // The first and the third answers are those of the call, and the second one is that of the probe.
    const answers = [false, true, false];
    const answer = () => {
      return answers.shift() === false ? Promise.reject(new TypeError("500")) : Promise.resolve([]);
    };
    const { store, runtime } = storeThat(answer, { reopen: () => Promise.resolve() });
    assert(await outcomeAfter(runtime, 1_000, call(store)) instanceof UnclearOutcomeError);
    assertEquals(answers, []);
    store.close();
  });

  Deno.test(`ResilientStore: with retryReadsMs, ${name} is repeated beyond the limit of a call`, async () => {
    let isAway = true;
    const answer = () => isAway ? Promise.reject(lockError()) : Promise.resolve([]);
    const { store, runtime } = storeThat(answer, {}, { retryReadsMs: RETRY_LIMIT_MS });
    const reading = call(store);
    await runtime.advance(RETRY_LIMIT_MS - 10 * CALL_LIMIT_MS);
    isAway = false;
    assertEquals(await outcomeAfter(runtime, 2 * CALL_LIMIT_MS, reading), []);
    isAway = true;
    const failure = await outcomeAfter(runtime, RETRY_LIMIT_MS + CALL_LIMIT_MS, call(store));
    assert(failure instanceof NotAppliedError);
  });
}

Deno.test("ResilientStore: commit() is not retried, because only its caller can find out whether it landed", async () => {
  const answer = failing(Infinity);
  const { store } = storeThat(answer, {}, { retryReadsMs: RETRY_LIMIT_MS });
  await assertRejects(() => COMMIT(store), NotAppliedError);
  assertEquals(answer.calls.length, 1);
});

Deno.test("ResilientStore: a damage of the file is reported once, is not retried, lasts, and refuses commits", async () => {
  const report = spy(() => {});
  const damage = new StoreDamagedError("database disk image is malformed");
  const answer = failing(Infinity, damage);
  const { store } = storeThat(answer, {}, { report, retryReadsMs: RETRY_LIMIT_MS });
  assertEquals(store.damage, undefined);
  for (const call of Object.values(CALLS)) {
    const error = await assertRejects(() => call(store), StoreDamagedError);
    assertEquals(error.message, "The store's file is damaged");
  }
  // The commit after the damage was found is not sent.
  assertEquals([answer.calls.length, store.damage], [Object.keys(CALLS).length - 1, damage]);
  const remedy = "Stop the service, run an audit, and follow its advice";
  const logged = ["error", "store_damaged", { reason: damage.reason, remedy }];
  assertEquals<unknown>(report.calls.map(({ args }) => args), [logged]);
  store.close();
});

Deno.test("ResilientStore: calls wait for the connection after one found the store away", async () => {
  let isThere = false;
  const answer = () =>
    isThere ? Promise.resolve([]) : Promise.reject(new StoreAwayError("refused"));
  const reopen = () => Promise.resolve(void (isThere = true));
  const { store, runtime } = storeThat(answer, { reopen });
  await assertRejects(() => COMMIT(store), StoreAwayError);
  assertEquals(await outcomeAfter(runtime, 300, COMMIT(store)), []);
  store.close();
});

Deno.test("ResilientStore: a remote store's connection is replaced if a commit is not applied and none landed for a second", async () => {
  let isLocked = false;
  const reopen = spy(() => Promise.resolve());
  const commit = () => isLocked ? Promise.reject(lockError()) : Promise.resolve("1");
  const { store, runtime } = storeThat(() => Promise.resolve([]), { commit, reopen });
  await COMMIT(store);
  isLocked = true;
  for (const [waitMs, expected] of [[999, 0], [1, 1], [999, 1], [1, 2]]) {
    await runtime.advance(waitMs);
    await assertRejects(() => COMMIT(store), NotAppliedError);
    await runtime.advance(0);
    assertEquals(reopen.calls.length, expected);
  }
  store.close();
});

Deno.test("ResilientStore: after a call hangs, calls fail at once until a read of a probe is answered", async () => {
  let hangs = true;
  const answer = spy(() => hangs ? hang() : Promise.resolve([]));
  const { store, runtime } = storeThat(answer);
  const calls = Object.values(CALLS);
  await Promise.all(calls.map((call) => outcomeAfter(runtime, CALL_LIMIT_MS, call(store))));
  await runtime.advance(500);
  const probes = answer.calls.length;
  for (const call of calls) {
    await assertRejects(() => call(store), StoreAwayError, "The store does not answer");
  }
  assertEquals(answer.calls.length, probes);
  hangs = false;
  await runtime.advance(CALL_LIMIT_MS);
  for (const call of calls) assertEquals(await call(store), []);
  store.close();
});

Deno.test("ResilientStore: close() rejects unanswered calls and every later call", async () => {
  const { store } = storeThat(hang);
  const hanging = store.get(["pet"]);
  store.close();
  await assertRejects(() => hanging, StoreClosedError);
  for (const call of Object.values(CALLS)) {
    await assertRejects(() => call(store), StoreClosedError, "The service is shutting down");
  }
});
