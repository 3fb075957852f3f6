import { assert, assertEquals, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import {
  CALL_LIMIT_MS,
  CircuitBreaker,
  OUTSTANDING_LIMIT,
  TimeLimitError,
} from "../../../../src/eventstore_less/store/resilience/circuit_breaker.ts";
import {
  StoreAwayError,
  StoreClosedError,
} from "../../../../src/eventstore_less/store/store_errors.ts";
import { limitedLogger } from "../../../../src/runtime/limited_logger.ts";
import { FakeRuntime } from "../../../support/fake_runtime.ts";

/** Time after which the circuit breaker opens, in milliseconds. */
const HOLD_LIMIT_MS = 500;

type Probe = (signal: AbortSignal) => Promise<unknown>;

/** A circuit breaker with calls that settle on request. */
function makeCircuitBreaker(answer: Probe = () => Promise.resolve()) {
  const runtime = new FakeRuntime();
  const report = spy((_level: string, _event: string, _details?: Record<string, unknown>) => {});
  const probe = spy(answer);
  const limited = limitedLogger((...line) => report(...line), runtime);
  const circuitBreaker = new CircuitBreaker(runtime, limited, probe);
  const made: unknown[] = [];
  const settle = new Map<unknown, (error?: Error) => void>();
  const run = (name: unknown) =>
    circuitBreaker.run("read", () => {
      made.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      settle.set(name, (error) => error === undefined ? resolve(name) : reject(error));
      return promise;
    });
  return { circuitBreaker, runtime, probe, report, made, run, settle };
}

const refuse = () => Promise.reject(new Error("connection refused"));
const hang = () => new Promise<never>(() => {});

Deno.test("CircuitBreaker makes calls at once up to its limit, and further ones in order as others end", async () => {
  const { runtime, made, run, settle } = makeCircuitBreaker();
  const names = Array.from({ length: OUTSTANDING_LIMIT + 2 }, (_, index) => index);
  const [first, ...others] = names.map(run);
  assertEquals(made, names.slice(0, OUTSTANDING_LIMIT));
  settle.get(1)!();
  await runtime.advance(1);
  assertEquals(made, names.slice(0, -1));
  const failure = assertRejects(() => first, Error, "failed");
  settle.get(0)!(new Error("failed"));
  await failure;
  await runtime.advance(1);
  assertEquals(made, names);
  for (const name of names) settle.get(name)!();
  assertEquals(await Promise.all(others), names.slice(1));
  assertEquals(runtime.waits(), []);
});

Deno.test("CircuitBreaker rejects a call at its limit of time, drops the late result, and never makes one that waited too long", async () => {
  const { runtime, made, run, settle } = makeCircuitBreaker();
  const calls = Array.from({ length: OUTSTANDING_LIMIT + 1 }, (_, index) => run(index));
  const outcomes = Promise.allSettled(calls);
  await runtime.advance(CALL_LIMIT_MS - 1);
  assertEquals(runtime.waits().length, calls.length);
  await runtime.advance(1);
  for (const [index, settleCall] of settle) settleCall(index === 0 ? new Error("late") : undefined);
  const kinds = (await outcomes).map((it) => it.status === "rejected" && it.reason.constructor);
  assertEquals(kinds, [...Array(OUTSTANDING_LIMIT).fill(TimeLimitError), StoreAwayError]);
  assertEquals([made.length, runtime.waits()], [OUTSTANDING_LIMIT, []]);
});

Deno.test("CircuitBreaker is closed until it is tripped; then calls wait until a probe is answered, once at a time", async () => {
  let failures = 3;
  const { circuitBreaker, runtime, probe, made, run, report } = makeCircuitBreaker(() =>
    failures-- > 0 ? refuse() : Promise.resolve()
  );
  await runtime.advance(10_000);
  run("before");
  assertEquals([probe.calls.length, made], [0, ["before"]]);
  for (let probes = 4; probes <= 5; probes++) {
    circuitBreaker.trip();
    circuitBreaker.trip();
    run(probes);
    assertEquals(made.includes(probes), false);
    await runtime.advance(HOLD_LIMIT_MS - 1);
    assertEquals(probe.calls.length, probes);
    assertEquals(made.at(-1), probes);
  }
  assertEquals(report.calls, []);
});

for (const [name, fail] of Object.entries({ refused: refuse, unanswered: hang })) {
  Deno.test(`CircuitBreaker opens if probes stay ${name}: calls fail at once until one is answered`, async () => {
    let isAway = true;
    const { circuitBreaker, runtime, made, run, settle } = makeCircuitBreaker(() =>
      isAway ? fail() : Promise.resolve()
    );
    for (let call = 0; call < OUTSTANDING_LIMIT; call++) run(call).catch(() => {});
    circuitBreaker.trip();
    const waiting = run("waiting").catch((error) => error);
    await runtime.advance(HOLD_LIMIT_MS - 1);
    assertEquals(runtime.waits().includes(CALL_LIMIT_MS - HOLD_LIMIT_MS + 1), true);
    await runtime.advance(1);
    assert(await waiting instanceof StoreAwayError);
    await runtime.advance(10_000);
    await assertRejects(() => run("open"), StoreAwayError, "The store does not answer");
    isAway = false;
    await runtime.advance(3_000);
    // Calls from before still hang, and do not count.
    run("closed").catch(() => {});
    run("last").catch(() => {});
    settle.get(0)!();
    assertEquals(made.slice(OUTSTANDING_LIMIT), ["closed", "last"]);
  });
}

Deno.test("CircuitBreaker aborts a probe that is late", async () => {
  const { circuitBreaker, runtime, probe } = makeCircuitBreaker(hang);
  const areAborted = () => probe.calls.map(({ args: [signal] }) => signal.aborted);
  circuitBreaker.trip();
  await runtime.advance(CALL_LIMIT_MS - 1);
  assertEquals(areAborted(), [false]);
  await runtime.advance(300);
  assertEquals(areAborted(), [true, false]);
});

Deno.test("CircuitBreaker reports an outage when it opens, then every ten seconds, and its end, in whole milliseconds", async () => {
  let isAway = true;
  const { circuitBreaker, runtime, report } = makeCircuitBreaker(() =>
    isAway ? refuse() : Promise.resolve()
  );
  const monotonicNow = runtime.monotonicNow.bind(runtime);
  runtime.monotonicNow = () => monotonicNow() + 0.1;
  circuitBreaker.trip();
  await runtime.advance(90_000);
  isAway = false;
  await runtime.advance(1_000);
  const events = report.calls.map(({ args: [, event] }) => event);
  assertEquals(events, [...Array(9).fill("store_away"), "store_back"]);
  const details = report.calls.map(({ args: [, , details] }) => details!);
  const [first, last] = [details[0], details.at(-1)!];
  assertEquals(Object.keys(first), ["reason", "forMs"]);
  const [forMs, afterMs] = [first.forMs, last.afterMs] as number[];
  assert(forMs >= HOLD_LIMIT_MS && forMs < 2 * HOLD_LIMIT_MS);
  assert(afterMs >= 90_000 && afterMs < 91_000);
  assert(Number.isInteger(forMs) && Number.isInteger(afterMs));
});

Deno.test("CircuitBreaker rejects all calls on stop(), and makes no probe and no report after it", async () => {
  const moments = [[hang, 0], [hang, HOLD_LIMIT_MS + 100], [refuse, HOLD_LIMIT_MS - 1]];
  for (const [answer, stopAtMs] of moments as [Probe, number][]) {
    const { circuitBreaker, runtime, probe, report, run } = makeCircuitBreaker(answer);
    const calls = [1, 2].map((name) => assertRejects(() => run(name), StoreClosedError));
    circuitBreaker.trip();
    await runtime.advance(stopAtMs);
    circuitBreaker.stop();
    await Promise.all(calls);
    const { length } = probe.calls;
    circuitBreaker.trip();
    await runtime.advance(10_000);
    assertEquals([report.calls, runtime.waits()], [[], []]);
    await assertRejects(() => run("late"), StoreClosedError);
    assertEquals(probe.calls.map(({ args: [signal] }) => signal.aborted), Array(length).fill(true));
  }
});
