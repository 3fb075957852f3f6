import { assert, assertEquals, assertRejects } from "@std/assert";
import { TimeLimiter, TimeLimitError } from "../../../src/store/resilience/time_limiter.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

Deno.test("TimeLimiter settles a call like the call itself, and leaves no timer", async () => {
  const runtime = new FakeRuntime();
  const limiter = new TimeLimiter(runtime, 100);
  assertEquals(await limiter.run(() => Promise.resolve("done")), "done");
  await assertRejects(
    () => limiter.run(() => Promise.reject(new Error("failed"))),
    Error,
    "failed",
  );
  assertEquals(runtime.waits(), []);
});

Deno.test("TimeLimiter rejects a call at the limit and drops its late result", async () => {
  for (const settle of ["resolve", "reject"] as const) {
    const runtime = new FakeRuntime();
    const hanging = Promise.withResolvers<unknown>();
    const errors: unknown[] = [];
    const call = new TimeLimiter(runtime, 100).run(() => hanging.promise)
      .catch((error) => errors.push(error));
    await runtime.advance(99);
    assertEquals(errors, []);
    await runtime.advance(1);
    assert(errors[0] instanceof TimeLimitError);
    hanging[settle](new Error("late"));
    await runtime.advance(1);
    await call;
    assertEquals(errors.length, 1);
  }
});

Deno.test("TimeLimiter rejects all calls that have not settled on rejectAll(), and leaves no timer", async () => {
  const runtime = new FakeRuntime();
  const limiter = new TimeLimiter(runtime, 100);
  const hang = () => new Promise<void>(() => {});
  const calls = [1, 2].map(() => assertRejects(() => limiter.run(hang), Error, "the end"));
  limiter.rejectAll(new Error("the end"));
  await Promise.all(calls);
  assertEquals(runtime.waits(), []);
});
