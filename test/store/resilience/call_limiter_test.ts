import { assert, assertEquals, assertRejects } from "@std/assert";
import { CallLimiter, TimeLimitError } from "../../../src/store/resilience/call_limiter.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

const LIMIT_MS = 100;

/** A limiter with calls that settle on request. */
function makeCalls(limit = Infinity) {
  const runtime = new FakeRuntime();
  const limiter = new CallLimiter(runtime, LIMIT_MS, limit);
  const made: string[] = [];
  const settle = new Map<string, (error?: Error) => void>();
  const run = (name: string) =>
    limiter.run(() => {
      made.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      settle.set(name, (error) => error === undefined ? resolve(name) : reject(error));
      return promise;
    });
  return { runtime, limiter, made, run, settle };
}

Deno.test("CallLimiter makes calls at once up to its limit, and further ones in order as others end", async () => {
  const { runtime, made, run, settle } = makeCalls(2);
  const calls = ["a", "b", "c", "d"].map(run);
  assertEquals(made, ["a", "b"]);
  settle.get("b")!();
  await runtime.advance(1);
  assertEquals(made, ["a", "b", "c"]);
  const failure = assertRejects(() => calls[0], Error, "failed");
  settle.get("a")!(new Error("failed"));
  await failure;
  await runtime.advance(1);
  assertEquals(made, ["a", "b", "c", "d"]);
  for (const name of ["c", "d"]) settle.get(name)!();
  assertEquals(await Promise.all(calls.slice(1)), ["b", "c", "d"]);
  await runtime.advance(1);
  assertEquals(runtime.waits(), []);
});

Deno.test("CallLimiter makes no call between pause() and resume(), and none that was rejected", async () => {
  const { runtime, limiter, made, run, settle } = makeCalls(2);
  run("first");
  limiter.pause();
  const rejected = assertRejects(() => run("rejected"), Error, "away");
  limiter.rejectWaiting(new Error("away"));
  await rejected;
  const late = assertRejects(() => run("late"), TimeLimitError);
  settle.get("first")!();
  await runtime.advance(LIMIT_MS);
  await late;
  run("later");
  assertEquals(made, ["first"]);
  limiter.resume();
  assertEquals(made, ["first", "later"]);
});

Deno.test("CallLimiter does not count calls from before resume(), whether they hang or end later", async () => {
  const { runtime, limiter, made, run, settle } = makeCalls(1);
  run("old");
  limiter.pause();
  limiter.resume();
  run("current");
  run("next");
  settle.get("old")!();
  await runtime.advance(1);
  assertEquals(made, ["old", "current"]);
  settle.get("current")!();
  await runtime.advance(1);
  assertEquals(made, ["old", "current", "next"]);
});

Deno.test("CallLimiter rejects a call at its limit of time, and drops the late result", async () => {
  for (const late of [undefined, new Error("late")]) {
    const { runtime, run, settle } = makeCalls();
    const errors: unknown[] = [];
    const call = run("call").catch((error) => errors.push(error));
    await runtime.advance(LIMIT_MS - 1);
    assertEquals(errors, []);
    await runtime.advance(1);
    assert(errors[0] instanceof TimeLimitError);
    settle.get("call")!(late);
    await runtime.advance(1);
    await call;
    assertEquals(errors.length, 1);
  }
});

Deno.test("CallLimiter rejects all calls that have not settled on rejectAll(), and leaves no timer", async () => {
  const { runtime, limiter, run } = makeCalls(1);
  const calls = ["made", "waits"].map((name) => assertRejects(() => run(name), Error, "the end"));
  limiter.rejectAll(new Error("the end"));
  await Promise.all(calls);
  assertEquals(runtime.waits(), []);
});
