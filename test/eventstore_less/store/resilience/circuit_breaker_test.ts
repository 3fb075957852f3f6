import { assert, assertEquals, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import {
  CALL_LIMIT_MS,
  CircuitBreaker,
  OUTSTANDING_LIMIT,
  TimeLimitError,
} from "../../../../src/eventstore_less/store/resilience/circuit_breaker.ts";
import { limitedLogger } from "../../../../src/runtime/limited_logger.ts";
import { FakeRuntime } from "eventstore-less/testing";

Deno.test("CircuitBreaker makes calls at once up to its limit, and further ones in order as others end", async () => {
  const runtime = new FakeRuntime();
  const circuitBreaker = new CircuitBreaker(runtime, () => {}, () => Promise.resolve());
  const made: number[] = [];
  const settle = new Map<number, (error?: Error) => void>();
  const run = (name: number) =>
    circuitBreaker.run("read", () => {
      made.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      settle.set(name, (error) => error === undefined ? resolve(name) : reject(error));
      return promise;
    });
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

Deno.test("CircuitBreaker ends a probe that hangs, and does not count calls that hang once a probe is answered", async () => {
  const runtime = new FakeRuntime();
  const hang = () => new Promise<never>(() => {});
  const probes: AbortSignal[] = [];
  const circuitBreaker = new CircuitBreaker(runtime, () => {}, (signal) => {
    probes.push(signal);
    return probes.length === 1 ? hang() : Promise.resolve();
  });
  const hanging = Array.from({ length: OUTSTANDING_LIMIT }, () => {
    return assertRejects(() => circuitBreaker.run("read", hang), TimeLimitError);
  });
  circuitBreaker.trip();
  await runtime.advance(CALL_LIMIT_MS + 300);
  await Promise.all(hanging);
  assertEquals(probes.map(({ aborted }) => aborted), [true, false]);
  assertEquals(await circuitBreaker.run("read", () => Promise.resolve("answered")), "answered");
});

Deno.test("CircuitBreaker reports an outage and its end, each with its time in whole milliseconds", async () => {
  let isAway = true;
  const runtime = new FakeRuntime();
  const report = spy((_level: string, _event: string, _details?: Record<string, unknown>) => {});
  const limited = limitedLogger((...line) => report(...line), runtime);
  const circuitBreaker = new CircuitBreaker(runtime, limited, () => {
    return isAway ? Promise.reject(new Error("connection refused")) : Promise.resolve();
  });
  const monotonicNow = runtime.monotonicNow.bind(runtime);
  runtime.monotonicNow = () => monotonicNow() + 0.1;
  circuitBreaker.trip();
  await runtime.advance(9_000);
  isAway = false;
  await runtime.advance(1_000);
  const events = report.calls.map(({ args: [, event] }) => event);
  assertEquals(events, ["store_away", "store_back"]);
  const [first, last] = report.calls.map(({ args: [, , details] }) => details!);
  assertEquals(Object.keys(first), ["reason", "forMs"]);
  const [forMs, afterMs] = [first.forMs, last.afterMs] as number[];
  assert(forMs > 0 && afterMs > forMs);
  assert(Number.isInteger(forMs) && Number.isInteger(afterMs));
});
