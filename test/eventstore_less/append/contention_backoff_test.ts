import { assertEquals } from "@std/assert";
import { ContentionBackoff } from "eventstore-less/append/contention_backoff.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

const COMMIT_MS = 40;

Deno.test("ContentionBackoff pauses once after half a second and 16 commits without a conflict", async () => {
  for (const [commitMs, commits] of [[COMMIT_MS, 17], [20, 25]]) {
    const runtime = new FakeRuntime();
    const backoff = new ContentionBackoff(runtime);
    const paused: number[] = [];
    for (let commit = 0; commit < 60; commit++) {
      const pauseMs = backoff.onCommitted(commitMs);
      if (pauseMs > 0) assertEquals(pauseMs, 2 * commitMs, String(paused.push(commit)));
      await runtime.advance(commitMs);
    }
    assertEquals(paused.slice(0, 2), [16, 16 + commits]);
  }
});

Deno.test("ContentionBackoff pauses after conflicts for as many commits as it lost, up to four and half a second, and starves after every six", () => {
  const backoff = new ContentionBackoff(new FakeRuntime());
  for (const losses of [1, 3, 6, 9, 12]) {
    for (let loss = 0; loss < losses; loss++) backoff.onConflict();
    assertEquals(backoff.isStarving, losses % 6 === 0);
    assertEquals(backoff.onCommitted(COMMIT_MS), Math.min(4, losses) * COMMIT_MS);
  }
  backoff.onConflict();
  assertEquals(backoff.onCommitted(60_000), 500);
});

Deno.test("ContentionBackoff pauses for two seconds after a conflict", async () => {
  const runtime = new FakeRuntime();
  const backoff = new ContentionBackoff(runtime);
  assertEquals(backoff.areOthersNear, false);
  backoff.onConflict();
  backoff.onCommitted(COMMIT_MS);
  assertEquals(backoff.onCommitted(COMMIT_MS), COMMIT_MS);
  assertEquals(backoff.areOthersNear, true);
  await runtime.advance(2_000);
  assertEquals(backoff.onCommitted(COMMIT_MS), 0);
  assertEquals(backoff.areOthersNear, false);
});
