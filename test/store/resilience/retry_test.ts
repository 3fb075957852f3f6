import { assertEquals, assertRejects } from "@std/assert";
import { retry, type RetryOptions } from "../../../src/store/resilience/retry.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

/** Retries a call that fails so many times, and returns its outcome and the number of attempts. */
async function retried(failures: number, options: Omit<RetryOptions, "runtime">) {
  const runtime = new FakeRuntime();
  let attempts = 0;
  const call = () =>
    ++attempts <= failures
      ? Promise.reject(new Error(`failure ${attempts}`))
      : Promise.resolve("done");
  const outcome = retry(call, { ...options, runtime }).catch(({ message }) => message);
  await runtime.advance(60_000);
  return { outcome: await outcome, attempts };
}

Deno.test("retry() repeats a call until it succeeds", async () => {
  assertEquals(await retried(5, { limitMs: 10_000 }), { outcome: "done", attempts: 6 });
});

Deno.test("retry() rejects with the last error when the next attempt would be late", async () => {
  // With pauses of 3, 6, 12 and 24 ms, the fifth attempt begins after 45 ms.
  assertEquals(await retried(5, { limitMs: 46 }), { outcome: "failure 5", attempts: 5 });
  assertEquals(await retried(5, { limitMs: 45 }), { outcome: "failure 4", attempts: 4 });
});

Deno.test("retry() does not repeat a call after an error that is not retryable", async () => {
  const isRetryable = (error: unknown, attempt: number) =>
    (error as Error).message === `failure ${attempt + 1}` && attempt < 2;
  assertEquals(await retried(5, { limitMs: 10_000, isRetryable }), {
    outcome: "failure 3",
    attempts: 3,
  });
});

Deno.test("retry() makes the first attempt at once, and rejects a failed one at once if it has no time", async () => {
  const call = () => Promise.reject(new Error("failure"));
  await assertRejects(
    () => retry(call, { runtime: new FakeRuntime(), limitMs: 0 }),
    Error,
    "failure",
  );
});
