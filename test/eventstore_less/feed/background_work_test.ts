import { assertEquals } from "@std/assert";
import {
  BackgroundWork,
  type BackgroundWorkKind,
  IDLE_MS,
  QUIET_TURN_MS,
  REST_MS,
  TURN_MS,
} from "../../../src/eventstore_less/feed/background_work.ts";
import { FakeRuntime } from "eventstore-less/testing";

/** A runtime whose clock also advances while somebody works. */
function openWork() {
  const runtime = new FakeRuntime();
  const { monotonicNow } = runtime;
  let workedMs = 0;
  runtime.monotonicNow = () => monotonicNow() + workedMs;
  runtime.nextTurn = () => runtime.during(new Promise((resolve) => setTimeout(resolve)));
  const background = new BackgroundWork(runtime);
  const turns: string[] = [];
  const work = async (name: string, ms: number, kind: BackgroundWorkKind = "events") => {
    while (ms > 0) {
      await background.turn(kind);
      turns.push(name);
      for (; ms > 0 && !background.isRestDue; ms--) workedMs++;
    }
  };
  /** Takes turns that end at once, and works after each. */
  const workBetween = async (name: string, ms: number, count: number) => {
    for (; count > 0; count--) {
      await background.turn("events");
      turns.push(name);
      await runtime.nextTurn();
      workedMs += ms;
    }
  };
  return { runtime, monotonicNow, background, turns, work, workBetween };
}

Deno.test("BackgroundWork gives short turns, one after the other, to all who want one", async () => {
  const { runtime, monotonicNow, turns, work } = openWork();
  const start = monotonicNow();
  const working = Promise.all([
    work("a", 3 * QUIET_TURN_MS),
    work("b", 2 * QUIET_TURN_MS),
    work("c", 1),
  ]);
  await runtime.advance(0);
  await working;
  assertEquals([turns.join(""), monotonicNow() - start], ["abcabaa", 0]);
});

Deno.test("BackgroundWork rests most of the time while there are requests, and is not stopped by them", async () => {
  const { runtime, background, turns, work } = openWork();
  const request = {};
  background.requestBegan(request);
  const working = work("x", 20 * TURN_MS);
  await runtime.advance(10 * REST_MS - 1);
  assertEquals(turns.length, 10);
  background.requestEnded(request);
  await runtime.advance(REST_MS);
  await working;
  assertEquals(turns.length, 20);
  background.requestBegan(request);
  background.requestEnded(request);
  work("x", 2 * TURN_MS);
  await runtime.advance(REST_MS - 1);
  assertEquals(turns.length, 20, "A request that came and went counts, too");
  await runtime.advance(1);
  assertEquals(turns.length, 22);
});

Deno.test("BackgroundWork keeps its turns short while requests come and go during its rests", async () => {
  const { runtime, background, turns, work } = openWork();
  const respond = () => {
    const request = {};
    background.requestBegan(request);
    background.requestEnded(request);
  };
  respond();
  const working = work("x", 10 * TURN_MS);
  for (let time = 0; time < 10 * REST_MS; time++) {
    await runtime.advance(1);
    respond();
  }
  await working;
  assertEquals(turns.length, 10);
  await runtime.settle(work("y", TURN_MS));
  await runtime.advance(IDLE_MS);
  await runtime.settle(work("z", QUIET_TURN_MS));
  assertEquals(turns.join(""), "x".repeat(10) + "yz", "After a quiet time, turns are longer");
});

Deno.test("BackgroundWork counts what the owner of a turn does after it", async () => {
  const { runtime, background, turns, workBetween } = openWork();
  const request = {};
  background.requestBegan(request);
  const working = workBetween("x", TURN_MS / 3, 10);
  await runtime.advance(0);
  assertEquals(turns.length, 3);
  await runtime.advance(REST_MS - 1);
  assertEquals(turns.length, 3);
  await runtime.advance(1);
  assertEquals(turns.length, 6);
  await runtime.advance(2 * REST_MS);
  await working;
  const long = workBetween("y", 5 * TURN_MS, 3);
  await runtime.advance(3 * REST_MS - 1);
  assertEquals(turns.join(""), "x".repeat(10) + "yyy");
  await long;
});

Deno.test("BackgroundWork counts the end of a request once, also if it has become work before", async () => {
  const { runtime, background, turns, work } = openWork();
  const request = {};
  const other = {};
  background.requestBegan(other);
  background.requestBegan(request);
  background.requestLeft(request);
  background.requestLeft(request);
  background.requestEnded(request);
  const working = work("x", 2 * TURN_MS);
  await runtime.advance(REST_MS - 1);
  assertEquals(turns.length, 1);
  await runtime.advance(1);
  await working;
  assertEquals(turns.length, 2);
});

Deno.test("BackgroundWork serves both kinds of work in turn, however many wait for one of them", async () => {
  const { runtime, turns, work } = openWork();
  const working = Promise.all([
    ...["a", "b", "c"].map((name) => work(name, QUIET_TURN_MS)),
    work("p", QUIET_TURN_MS, "pages"),
    work("q", QUIET_TURN_MS, "pages"),
  ]);
  await runtime.advance(0);
  await working;
  assertEquals(turns.join(""), "apbqc");
});
