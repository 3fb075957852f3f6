import { assertEquals } from "@std/assert";
import { logStart } from "../../src/life_cycle/log_start.ts";
import { issueApiKey, rotateApiKey } from "../../src/keys/write_api_key.ts";
import { openTestService } from "../support/test_service.ts";

const DAY_MS = 86_400_000;

Deno.test("logStart() says that the clock was set back by days, with the keys that are valid again", async () => {
  await using service = await openTestService();
  const { runtime, reports } = service;
  const issue = (label: string, days: number) =>
    issueApiKey(service, { label, expiresAt: runtime.now() + days * DAY_MS });
  const expired = await issue("expired", 3);
  const retired = await issue("retired", 30);
  await issue("live", 30);
  const terms = { overlapMs: DAY_MS, label: undefined, lifetimeMs: undefined };
  await rotateApiKey(service, retired.id, terms, () => Promise.resolve());
  await runtime.advance(5 * DAY_MS);
  assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 201);
  const newestEvent = new Date(runtime.now()).toISOString();
  const start = async () => {
    reports.length = 0;
    const location = { kind: "file", path: "pets.sqlite3", isDefault: false } as const;
    await logStart(service, { hostname: "localhost", port: 80 }, location, () => false);
    return reports.filter(([, event]) => event !== "listening");
  };
  assertEquals(await start(), []);
  runtime.jumpClock(-30_000);
  assertEquals(await start(), []);
  runtime.jumpClock(30_000 - 4.5 * DAY_MS);
  const remedy = "Stop the service, set the clock of this machine, and start the service again";
  // In the order of the hashes of their tokens.
  const keysValidAgain = [retired.id, expired.id];
  const details = { seconds: 4.5 * 86_400, newestEvent, keysValidAgain, remedy };
  assertEquals(await start(), [["warn", "clock_behind", details]]);
  runtime.jumpClock(4.5 * DAY_MS);
  assertEquals(await start(), []);
});
