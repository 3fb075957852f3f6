import { assertEquals } from "@std/assert";
import { FakeRuntime } from "eventstore-less/testing";
import { DeliveryFailedError } from "../../../src/webhooks/delivery/delivery_failed_error.ts";
import { pauseMsAfter } from "../../../src/webhooks/delivery/pause_after.ts";

const HOUR_MS = 3_600_000;

/** The longest and the shortest pause after so many failures. */
function pausesAfter(failures: number, retryAfterMs?: number): number[] {
  const attempt = { time: "2026-01-01T00:00:00.000Z", durationMs: 1, status: 503, retryAfterMs };
  return [1, 0].map((random) => {
    const runtime = Object.assign(new FakeRuntime(), { random: () => random });
    return pauseMsAfter(runtime, failures, new DeliveryFailedError(attempt));
  });
}

Deno.test("pauseMsAfter() doubles with jitter, up to 8 hours", () => {
  assertEquals([1, 2, 3].map((it) => pausesAfter(it)), [
    [5_000, 2_500],
    [10_000, 5_000],
    [20_000, 10_000],
  ]);
  assertEquals([14, 100].map((it) => pausesAfter(it)), [
    [8 * HOUR_MS, 4 * HOUR_MS],
    [8 * HOUR_MS, 4 * HOUR_MS],
  ]);
});

Deno.test("pauseMsAfter() is at most a minute after a failure of the service itself", () => {
  const runtime = Object.assign(new FakeRuntime(), { random: () => 1 });
  const pauses = [1, 3, 100].map((it) => pauseMsAfter(runtime, it, new Error("The store is away")));
  assertEquals(pauses, [5_000, 20_000, 60_000]);
});

Deno.test("pauseMsAfter() is not shorter than Retry-After, up to 8 hours", () => {
  assertEquals(pausesAfter(1, 60_000), [60_000, 60_000]);
  assertEquals(pausesAfter(3, 1_000), [20_000, 10_000]);
  assertEquals(pausesAfter(1, 100 * HOUR_MS), [8 * HOUR_MS, 8 * HOUR_MS]);
});
