import { assertEquals } from "@std/assert";
import { Turns } from "../../../src/eventstore_less/append/turns.ts";
import { EMPTY_HEAD, type HeadEntry } from "../../../src/eventstore_less/log/head.ts";
import type { HeadReader } from "../../../src/eventstore_less/log/head_reader.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

const STEP_MS = 40;

/** Turns on a head that a test moves. Without others, an instance leaves the first turn to one that it has not seen. */
function open(stepMs = STEP_MS) {
  const runtime = new FakeRuntime();
  let version = 0;
  const entry = (): HeadEntry => ({ head: EMPTY_HEAD, versionstamp: `${version}` });
  const heads = {
    get latest() {
      return entry();
    },
    read: () => Promise.resolve(entry()),
  };
  const turns = new Turns(heads as HeadReader, runtime);
  const moveHead = () => void version++;
  /** Commits, and resolves to how long the instance then waits, in milliseconds. Others commit at the given times. */
  const commit = async (...othersAtMs: number[]) => {
    moveHead();
    turns.onConfirmed();
    turns.onLanded(stepMs);
    for (const ms of othersAtMs) runtime.setTimer(ms, moveHead);
    const startedAt = runtime.monotonicNow();
    let endedAt = NaN;
    const waiting = turns.wait().then(() => endedAt = runtime.monotonicNow());
    await runtime.advance(1);
    while (Number.isNaN(endedAt)) await runtime.advance(1);
    await waiting;
    return endedAt - startedAt;
  };
  const lose = (count: number) => {
    moveHead();
    turns.onLost(count);
  };
  return { runtime, turns, commit, lose };
}

Deno.test("Turns: an instance alone waits once in a second, for two and a half of its steps", async () => {
  const { runtime, commit } = open();
  assertEquals(await commit(), 100);
  assertEquals(await commit(), 0);
  await runtime.advance(1_000);
  assertEquals(await commit(), 100);
  assertEquals(await commit(), 0);
});

Deno.test("Turns: after a loss, an instance waits until another one commits, and then for as many as took turns", async () => {
  const { commit, lose } = open();
  await commit();
  lose(1);
  assertEquals(await commit(20), 20);
  assertEquals(await commit(20), 20);
  // The second commit is between two turns that are waited for.
  lose(1);
  assertEquals(await commit(60), 60);
});

Deno.test("Turns: an instance waits for five of its steps for one that takes no turn, or twice as long as its last turn, but at most half a second", async () => {
  const { commit } = open();
  await commit(20);
  assertEquals(await commit(180), 180);
  assertEquals(await commit(340), 340);
  assertEquals(await commit(), 500);
  // A second has passed.
  assertEquals(await commit(), 100);
  assertEquals(await commit(), 0);
});

Deno.test("Turns: an instance waits at most half a second, also after a step that took a minute", async () => {
  const { commit } = open(60_000);
  assertEquals(await commit(), 500);
});

Deno.test("Turns: a loss halves the number of commands of a plan, down to one, and one that is confirmed doubles it", async () => {
  const { commit, lose, turns } = open();
  assertEquals(turns.limit, Infinity);
  lose(9);
  assertEquals(turns.limit, 4);
  await commit();
  assertEquals(turns.limit, 8);
  turns.onConfirmed();
  assertEquals(turns.limit, 16);
  for (const limit of [8, 4, 2, 1, 1]) {
    lose(turns.limit);
    assertEquals(turns.limit, limit);
  }
});
