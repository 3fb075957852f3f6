import { assertEquals } from "@std/assert";
import { BackgroundWork, REST_MS, TURN_MS } from "../../src/feed/background_work.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

/** A runtime whose clock also advances while somebody works. */
function openWork() {
  const runtime = new FakeRuntime();
  const { monotonicNow } = runtime;
  let workedMs = 0;
  runtime.monotonicNow = () => monotonicNow() + workedMs;
  runtime.nextTurn = () => runtime.during(new Promise((resolve) => setTimeout(resolve)));
  const background = new BackgroundWork(runtime);
  const turns: string[] = [];
  const work = async (name: string, ms: number) => {
    while (ms > 0) {
      await background.turn();
      turns.push(name);
      for (; ms > 0 && !background.isTurnOver; ms--) workedMs++;
    }
  };
  return { runtime, monotonicNow, background, turns, work };
}

Deno.test("BackgroundWork gives short turns, one after the other, to all who want one", async () => {
  const { runtime, monotonicNow, turns, work } = openWork();
  const start = monotonicNow();
  const working = Promise.all([work("a", 3 * TURN_MS), work("b", 2 * TURN_MS), work("c", 1)]);
  await runtime.advance(0);
  await working;
  assertEquals([turns.join(""), monotonicNow() - start], ["abcaba", 0]);
});

Deno.test("BackgroundWork rests most of the time while there are requests, and is not stopped by them", async () => {
  const { runtime, background, turns, work } = openWork();
  background.requestBegan();
  const working = work("x", 20 * TURN_MS);
  await runtime.advance(10 * REST_MS - 1);
  assertEquals(turns.length, 10);
  background.requestEnded();
  await runtime.advance(REST_MS);
  await working;
  assertEquals(turns.length, 20);
  background.requestBegan();
  background.requestEnded();
  work("x", 2 * TURN_MS);
  await runtime.advance(REST_MS - 1);
  assertEquals(turns.length, 21, "A request that came and went counts, too");
  await runtime.advance(1);
  assertEquals(turns.length, 22);
});
