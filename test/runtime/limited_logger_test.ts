import { assertEquals } from "@std/assert";
import { INTERVAL_MS, limitedLogger, LINES_LIMIT } from "../../src/runtime/limited_logger.ts";
import type { Logger } from "../../src/runtime/logger.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

function open() {
  const runtime = new FakeRuntime();
  const lines: Parameters<Logger>[] = [];
  const log = limitedLogger((...line) => lines.push(line), runtime);
  /** Logs failures of a kind, and returns the lines that appeared. */
  const fail = (count: number, code = "overloaded") => {
    lines.length = 0;
    for (let number = 1; number <= count; number++) {
      log("warn", "request_failed", { code, number });
    }
    return lines.map(([, , details]) => details);
  };
  return { runtime, lines, log, fail };
}

Deno.test("limitedLogger() logs ten lines of a kind, and then the last one with the number of the others", async () => {
  const { runtime, lines, fail } = open();
  const numbers = Array.from({ length: LINES_LIMIT }, (_, index) => index + 1);
  const first = numbers.map((number) => ({ code: "overloaded", number }));
  assertEquals(fail(LINES_LIMIT), first);
  await runtime.advance(INTERVAL_MS);
  assertEquals(fail(1_000), first);
  await runtime.advance(INTERVAL_MS - 1);
  assertEquals(lines.length, LINES_LIMIT);
  await runtime.advance(1);
  const last = { code: "overloaded", number: 1_000, omitted: 1_000 - LINES_LIMIT - 1 };
  assertEquals(lines.slice(LINES_LIMIT), [["warn", "request_failed", last]]);
  assertEquals(fail(LINES_LIMIT), first, "A new interval has begun");
  assertEquals(runtime.waits(), [], "Nothing waits if nothing was left out");
});

Deno.test("limitedLogger() counts each kind for itself, and does not limit the access log", () => {
  const { lines, log, fail } = open();
  assertEquals(fail(100).length, LINES_LIMIT);
  assertEquals(fail(100, "internal_error").length, LINES_LIMIT);
  lines.length = 0;
  log("error", "stream_failed");
  for (let count = 0; count < 100; count++) log("info", "request", { code: "overloaded" });
  assertEquals(lines.map(([, event]) => event), ["stream_failed", ...Array(100).fill("request")]);
});
