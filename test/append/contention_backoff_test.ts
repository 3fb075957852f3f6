import { assertEquals } from "@std/assert";
import { ContentionBackoff } from "../../src/append/contention_backoff.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

const COMMIT_MS = 40;

Deno.test("ContentionBackoff does not pause without contention", () => {
  const backoff = new ContentionBackoff(new FakeRuntime());
  for (let commit = 0; commit < 16; commit++) assertEquals(backoff.onCommitted(COMMIT_MS), 0);
});

Deno.test("ContentionBackoff pauses once after half a second and 16 commits without a conflict", async () => {
  const runtime = new FakeRuntime();
  const backoff = new ContentionBackoff(runtime);
  const pauses: number[] = [];
  for (let commit = 0; commit < 40; commit++) {
    await runtime.advance(COMMIT_MS);
    pauses.push(backoff.onCommitted(COMMIT_MS));
  }
  const made = pauses.filter((pause) => pause > 0);
  assertEquals(made, [2 * COMMIT_MS, 2 * COMMIT_MS]);
});

Deno.test("ContentionBackoff pauses after conflicts for as many commits as it lost, up to four", () => {
  const backoff = new ContentionBackoff(new FakeRuntime());
  for (const losses of [1, 3, 4, 9]) {
    for (let loss = 0; loss < losses; loss++) backoff.onConflict();
    assertEquals(backoff.onCommitted(COMMIT_MS), Math.min(4, losses) * COMMIT_MS);
  }
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

Deno.test("ContentionBackoff limits each pause to half a second, however long the commits take", () => {
  const backoff = new ContentionBackoff(new FakeRuntime());
  backoff.onConflict();
  assertEquals(backoff.onCommitted(60_000), 500);
});

Deno.test("ContentionBackoff touches the head after every six conflicts in a row", () => {
  const backoff = new ContentionBackoff(new FakeRuntime());
  const starving: number[] = [];
  for (let losses = 1; losses <= 13; losses++) {
    backoff.onConflict();
    if (backoff.isStarving) starving.push(losses);
  }
  assertEquals(starving, [6, 12]);
  backoff.onCommitted(COMMIT_MS);
  assertEquals(backoff.isStarving, false);
});
