import { assertEquals } from "@std/assert";
import { INTERVAL_MS, limitedLogger, REQUESTS_LIMIT } from "../../src/runtime/limited_logger.ts";
import type { LogEvent } from "../../src/runtime/log_events.ts";
import type { Logger } from "../../src/runtime/logger.ts";
import { FakeRuntime } from "eventstore-less/testing";

function open() {
  const runtime = new FakeRuntime();
  const lines: Parameters<Logger>[] = [];
  const log = limitedLogger((...line) => lines.push(line), runtime);
  /** Takes the lines that were logged since it was called last. */
  const take = (): unknown[][] =>
    lines.splice(0).map(([level, event, details]) => [level, event, details]);
  /** Reports that many failures. */
  const fail = (count: number, event: LogEvent, details: Record<string, unknown> = {}) => {
    for (let number = 1; number <= count; number++) log("warn", event, { ...details, number });
  };
  return { runtime, log, take, fail };
}

Deno.test("limitedLogger() logs a failure at once, and then in each interval the last one with the number of the others", async () => {
  const { runtime, take, fail } = open();
  fail(100, "store_away");
  assertEquals(take(), [["warn", "store_away", { number: 1 }]]);
  await runtime.advance(INTERVAL_MS - 1);
  assertEquals(take(), []);
  await runtime.advance(1);
  assertEquals(take(), [["warn", "store_away", { number: 100, omitted: 98 }]]);
  fail(1, "store_away");
  assertEquals(take(), [], "The last line began an interval");
  await runtime.advance(INTERVAL_MS);
  assertEquals(take(), [["warn", "store_away", { number: 1, omitted: 0 }]]);
  await runtime.advance(INTERVAL_MS);
  assertEquals([take(), runtime.waits()], [[], []]);
  fail(1, "store_away");
  assertEquals(take(), [["warn", "store_away", { number: 1 }]]);
});

Deno.test("limitedLogger() logs ten lines that name requests, and then the last one with the number of the others", async () => {
  const { runtime, take, fail } = open();
  const request = { code: "overloaded", requestId: "r" };
  const first = Array.from({ length: REQUESTS_LIMIT }, (_, index) => {
    return ["warn", "request_failed", { ...request, number: index + 1 }];
  });
  fail(REQUESTS_LIMIT, "request_failed", request);
  assertEquals(take(), first);
  await runtime.advance(INTERVAL_MS);
  assertEquals([take(), runtime.waits()], [[], []], "Nothing waits if nothing was left out");
  fail(1_000, "request_failed", request);
  assertEquals(take(), first);
  await runtime.advance(INTERVAL_MS);
  const last = { ...request, number: 1_000, omitted: 1_000 - REQUESTS_LIMIT - 1 };
  assertEquals(take(), [["warn", "request_failed", last]]);
});

Deno.test("limitedLogger() counts each kind for itself, and does not limit the access log", () => {
  const { take, log, fail } = open();
  fail(100, "request_failed", { code: "overloaded" });
  fail(100, "request_failed", { code: "internal_error" });
  fail(100, "stream_failed");
  assertEquals(take().length, 3);
  for (let count = 0; count < 100; count++) log("info", "request", { code: "overloaded" });
  assertEquals(take().length, 100);
});

Deno.test("limitedLogger() logs the end of a fault once if the fault was logged, and then nothing more of the fault", async () => {
  const { runtime, take, log, fail } = open();
  const end = () => log("info", "store_back", { ends: "store_away" });
  const back = ["info", "store_back", { ends: "store_away" }];
  end();
  assertEquals(take(), []);
  fail(9, "store_away");
  end();
  end();
  assertEquals(take(), [["warn", "store_away", { number: 1 }], back]);
  // A fault that comes and goes within the interval is not logged.
  fail(1, "store_away");
  end();
  await runtime.advance(INTERVAL_MS - 1);
  fail(2, "store_away");
  assertEquals(take(), []);
  await runtime.advance(1);
  assertEquals(take(), [["warn", "store_away", { number: 2, omitted: 1 }]]);
  end();
  await runtime.advance(INTERVAL_MS);
  assertEquals([take(), runtime.waits()], [[back], []]);
});
