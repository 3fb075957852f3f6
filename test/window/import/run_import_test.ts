import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Addition } from "../../../src/window/import/plan.ts";
import {
  type Attempt,
  type Earlier,
  type Outcome,
  runImport,
  WORKERS,
} from "../../../src/window/import/run_import.ts";

const entries: Addition[] = Array.from({ length: 50 }, (_, index) => ({
  kind: "addition",
  row: { line: index + 2, lastLine: index + 2, text: "", cells: [] },
  pet: { name: `Animal ${index}`, categoryId: 7n },
  countBefore: 0,
  again: "",
}));

/** Runs an import. `answer` is asked for each request. */
function runWith(answer: (line: number, request: number) => Attempt | Promise<Attempt>) {
  const stop = new AbortController();
  const outcomes = new Map<number, Outcome>();
  const pausesMs: number[] = [];
  const again: Earlier[] = [];
  let [requests, active, most] = [0, 0, 0];
  const done = runImport(entries, {
    async send({ row: { line } }, earlier) {
      if (earlier.count > 0) again.push(earlier);
      most = Math.max(most, ++active);
      const attempt = await answer(line, ++requests);
      active--;
      return attempt;
    },
    onOutcome({ row: { line } }, outcome) {
      assert(!outcomes.has(line));
      outcomes.set(line, outcome);
    },
    async wait(ms, signal) {
      pausesMs.push(ms);
      await Promise.resolve();
      signal.throwIfAborted();
    },
    signal: stop.signal,
  });
  return { done, stop, outcomes, pausesMs, again, counts: () => ({ requests, most }) };
}

Deno.test("runImport() sends each line until its outcome is known, some at a time", async () => {
  const tries = new Map<number, number>();
  const run = runWith((line) => {
    const count = (tries.get(line) ?? 0) + 1;
    tries.set(line, count);
    if (line % 5 === 0 && count < 3) return { kind: "away", pauseMs: line, isUnclear: count === 1 };
    return line % 7 === 0 ? { kind: "failed", fault: "No" } : { kind: "added" };
  });
  await run.done;
  assertEquals(run.outcomes.size, entries.length);
  assertEquals(run.outcomes.get(14), { kind: "failed", fault: "No" });
  assertEquals(run.outcomes.get(15), { kind: "added" });
  assertEquals(run.counts(), { requests: entries.length + 20, most: WORKERS });
  assertEquals(run.pausesMs.length, 20);
  // Once a request may have landed, that stays so.
  assertEquals(new Set(run.again.map(({ isUnclear }) => isUnclear)), new Set([true]));
  assertEquals(new Set(run.again.map(({ count }) => count)), new Set([1, 2]));
});

Deno.test("runImport() completes the lines in flight when it is stopped, and sends no others", async () => {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = runWith(async (_line, request) => {
    if (request === WORKERS) begun.resolve();
    await gate.promise;
    return { kind: "added" };
  });
  await begun.promise;
  run.stop.abort();
  gate.resolve();
  await run.done;
  assertEquals([run.outcomes.size, run.counts().requests], [WORKERS, WORKERS]);
});

Deno.test("runImport() that is stopped while the service is away sends nothing again", async () => {
  const run = runWith((_line, request): Attempt => {
    if (request === WORKERS) run.stop.abort();
    return { kind: "away", pauseMs: 1_000_000, isUnclear: true };
  });
  await run.done;
  assertEquals([run.outcomes.size, run.counts().requests], [0, WORKERS]);
});

Deno.test("runImport() rejects if no line can be sent, and sends no others", async () => {
  const run = runWith((_line, request) => {
    if (request === 10) throw new Error("The key may only read");
    return { kind: "added" };
  });
  await assertRejects(() => run.done, Error, "The key may only read");
  const { requests } = run.counts();
  assert(requests < 10 + WORKERS, String(requests));
});
