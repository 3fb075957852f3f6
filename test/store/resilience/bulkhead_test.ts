import { assertEquals, assertRejects } from "@std/assert";
import { Bulkhead } from "../../../src/store/resilience/bulkhead.ts";

/** Calls that settle on request, in a bulkhead. */
function makeCalls(limit: number) {
  const bulkhead = new Bulkhead(limit);
  const made: string[] = [];
  const settle = new Map<string, (error?: Error) => void>();
  const run = (name: string) =>
    bulkhead.run(() => {
      made.push(name);
      return new Promise<string>((resolve, reject) =>
        settle.set(name, (error) => error === undefined ? resolve(name) : reject(error))
      );
    });
  return { bulkhead, made, run, settle };
}

Deno.test("Bulkhead makes calls at once up to its limit, and further ones in order as others end", async () => {
  const { made, run, settle } = makeCalls(2);
  const calls = ["a", "b", "c", "d"].map(run);
  assertEquals(made, ["a", "b"]);
  settle.get("b")!();
  assertEquals(await calls[1], "b");
  assertEquals(made, ["a", "b", "c"]);
  const failure = assertRejects(() => calls[0], Error, "failed");
  settle.get("a")!(new Error("failed"));
  await failure;
  assertEquals(made, ["a", "b", "c", "d"]);
  settle.get("c")!();
  settle.get("d")!();
  assertEquals(await Promise.all(calls.slice(1)), ["b", "c", "d"]);
});

Deno.test("Bulkhead makes no call between pause() and resume(), and none that was rejected", async () => {
  const { bulkhead, made, run, settle } = makeCalls(2);
  const first = run("first");
  bulkhead.pause();
  const rejected = assertRejects(() => run("rejected"), Error, "away");
  bulkhead.rejectWaiting(new Error("away"));
  await rejected;
  const later = run("later");
  settle.get("first")!();
  await first;
  assertEquals(made, ["first"]);
  bulkhead.resume();
  await Promise.resolve();
  assertEquals(made, ["first", "later"]);
  settle.get("later")!();
  await later;
});

Deno.test("Bulkhead does not count calls from before resume(), whether they hang or end later", async () => {
  const { bulkhead, made, run, settle } = makeCalls(1);
  const old = run("old");
  bulkhead.pause();
  bulkhead.resume();
  const current = run("current");
  const next = run("next");
  settle.get("old")!();
  await old;
  assertEquals(made, ["old", "current"]);
  settle.get("current")!();
  await current;
  assertEquals(made, ["old", "current", "next"]);
  settle.get("next")!();
  await next;
});
