import { assert, assertEquals } from "@std/assert";
import {
  CircuitBreaker,
  type CircuitState,
} from "../../../src/store/resilience/circuit_breaker.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

/** Time after which the circuit breaker opens, in milliseconds. */
const HALF_OPEN_LIMIT_MS = 500;

function makeCircuitBreaker(probe: (signal: AbortSignal) => Promise<unknown>) {
  const runtime = new FakeRuntime();
  const states: CircuitState[] = [];
  const reports: [event: string, details: unknown][] = [];
  const circuitBreaker = new CircuitBreaker({
    runtime,
    report: (_level, event, details) => reports.push([event, details]),
    probe,
    onStateChange: (state) => states.push(state),
  });
  return { circuitBreaker, runtime, states, reports };
}

const refuse = () => Promise.reject(new Error("connection refused"));
const hang = () => new Promise<void>(() => {});

Deno.test("CircuitBreaker closes again without a report if a probe is answered while it is half-open", async () => {
  let failures = 3;
  const { circuitBreaker, runtime, states, reports } = makeCircuitBreaker(() =>
    failures-- > 0 ? refuse() : Promise.resolve()
  );
  circuitBreaker.trip();
  assertEquals(circuitBreaker.state, "half-open");
  await runtime.advance(HALF_OPEN_LIMIT_MS - 1);
  assertEquals(states, ["half-open", "closed"]);
  await runtime.advance(10_000);
  assertEquals(circuitBreaker.state, "closed");
  assertEquals(reports, []);
});

for (const [name, fail] of Object.entries({ refused: refuse, unanswered: hang })) {
  Deno.test(`CircuitBreaker opens if probes stay ${name}, and closes when one is answered`, async () => {
    let isAway = true;
    const { circuitBreaker, runtime, states } = makeCircuitBreaker(() =>
      isAway ? fail() : Promise.resolve()
    );
    circuitBreaker.trip();
    await runtime.advance(HALF_OPEN_LIMIT_MS - 1);
    assertEquals(circuitBreaker.state, "half-open");
    await runtime.advance(1);
    assertEquals(circuitBreaker.state, "open");
    await runtime.advance(10_000);
    assertEquals(circuitBreaker.state, "open");
    isAway = false;
    await runtime.advance(3_000);
    assertEquals(states, ["half-open", "open", "closed"]);
  });
}

Deno.test("CircuitBreaker is closed until it is tripped, once at a time, and again after it closed", async () => {
  let probes = 0;
  const { circuitBreaker, runtime, states } = makeCircuitBreaker(() => (probes++, hangs.promise));
  const hangs = Promise.withResolvers<void>();
  await runtime.advance(10_000);
  assertEquals([circuitBreaker.state, probes], ["closed", 0]);
  circuitBreaker.trip();
  circuitBreaker.trip();
  hangs.resolve();
  await runtime.advance(1);
  circuitBreaker.trip();
  await runtime.advance(1);
  assertEquals(states, ["half-open", "closed", "half-open", "closed"]);
  assertEquals(probes, 2);
});

Deno.test("CircuitBreaker aborts a probe that is late", async () => {
  const signals: AbortSignal[] = [];
  const { circuitBreaker, runtime } = makeCircuitBreaker((
    signal,
  ) => (signals.push(signal), hang()));
  circuitBreaker.trip();
  await runtime.advance(1_999);
  assertEquals(signals.map(({ aborted }) => aborted), [false]);
  await runtime.advance(300);
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
});

Deno.test("CircuitBreaker reports an outage when it opens, then once a minute, and its end, in whole milliseconds", async () => {
  let isAway = true;
  const { circuitBreaker, runtime, reports } = makeCircuitBreaker(() =>
    isAway ? refuse() : Promise.resolve()
  );
  const monotonicNow = runtime.monotonicNow.bind(runtime);
  runtime.monotonicNow = () => monotonicNow() + 0.1;
  circuitBreaker.trip();
  await runtime.advance(90_000);
  isAway = false;
  await runtime.advance(1_000);
  assertEquals(reports.map(([event]) => event), ["store_away", "store_away", "store_back"]);
  const [[, first], , [, last]] = reports as [string, { forMs?: number; afterMs?: number }][];
  assertEquals(Object.keys(first), ["reason", "forMs"]);
  assert(first.forMs! >= HALF_OPEN_LIMIT_MS && first.forMs! < 2 * HALF_OPEN_LIMIT_MS);
  assert(last.afterMs! >= 90_000 && last.afterMs! < 91_000);
  assert(Number.isInteger(first.forMs) && Number.isInteger(last.afterMs));
});

Deno.test("CircuitBreaker makes no probe and no report after stop()", async () => {
  for (const stopAtMs of [0, HALF_OPEN_LIMIT_MS + 100]) {
    const signals: AbortSignal[] = [];
    const { circuitBreaker, runtime, states, reports } = makeCircuitBreaker((signal) => {
      signals.push(signal);
      return hang();
    });
    circuitBreaker.trip();
    await runtime.advance(stopAtMs);
    const before = [...states];
    circuitBreaker.stop();
    circuitBreaker.trip();
    await runtime.advance(10_000);
    assertEquals(states, before);
    assertEquals(reports, []);
    assertEquals(signals.map(({ aborted }) => aborted), [true]);
    assertEquals(runtime.waits(), []);
  }
});
