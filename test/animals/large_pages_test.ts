import { gunzipSync } from "node:zlib";
import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { BackgroundWork, REST_MS, TURN_MS } from "eventstore-less/feed/background_work.ts";
import { LargePages, READ_LENGTH_LIMIT } from "../../src/animals/large_pages.ts";
import { EMPTY_HEAD } from "eventstore-less/log/head.ts";
import { LARGE_PAGE_LENGTH, type Page } from "../../src/animals/page.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const LARGE = "/v1/pets?limit=100";

/** A service with 100 pets whose page is large. */
async function openLarge(): Promise<TestService> {
  const service = await openTestService();
  // An odd number of code units, so that chunks would cut pairs of surrogates.
  const name = `犬${"🐕".repeat(499)}`;
  for (let categoryId = 1; categoryId <= 100; categoryId++) await service.add({ name, categoryId });
  return service;
}

Deno.test("a large page is the same as a text and in gzip, with its length, also for HEAD", async () => {
  await using opened = await openLarge();
  const { send } = opened;
  const plain = await send(LARGE);
  const text = await plain.clone().text();
  assertEquals(JSON.parse(text).length, 100);
  assertGreater(text.length, LARGE_PAGE_LENGTH);
  const gzip = { headers: { "accept-encoding": "gzip" } };
  const packed = await send(LARGE, gzip);
  const bytes = await packed.clone().bytes();
  assertEquals(gunzipSync(bytes).toString(), text);
  const length = new TextEncoder().encode(text).length;
  assertEquals(plain.headers.get("content-length"), String(length));
  assertEquals(packed.headers.get("content-length"), String(bytes.length));
  for (const response of [plain, packed]) {
    assertEquals(response.headers.get("content-type"), "application/json");
  }
  const head = await send(LARGE, { method: "HEAD" });
  await head.body?.cancel();
  assertEquals(head.headers.get("content-length"), String(length));
});

Deno.test("a large batch of events is the same as a text and in gzip, with its length", async () => {
  await using opened = await openLarge();
  const { send } = opened;
  const plain = await send("/v1/events");
  const bytes = await plain.clone().bytes();
  assertGreater(bytes.length, 64 * 1024);
  assertEquals(plain.headers.get("content-length"), String(bytes.length));
  const packed = await send("/v1/events", { headers: { "accept-encoding": "gzip" } });
  const packedBytes = await packed.clone().bytes();
  assertEquals(packed.headers.get("content-length"), String(packedBytes.length));
  assertEquals(new Uint8Array(gunzipSync(packedBytes)), bytes);
});

Deno.test("a large page waits until the thread has rested, and other requests do not", async () => {
  await using service = await openLarge();
  const { send, runtime, faults } = service;
  const first = await send(LARGE);
  const etag = first.headers.get("etag")!;
  await first.body?.cancel();
  await runtime.advance(TURN_MS);
  await send("/v1/pets/1");
  const reads = faults.lists.length;
  const responded: string[] = [];
  const ask = (path: string) => send(path).then(() => responded.push(path));
  const other = "/v1/pets?limit=99";
  const asking = Promise.all([ask(LARGE), ask(other)]);
  await runtime.advance(REST_MS - 1);
  assertEquals(responded, []);
  assertEquals(faults.lists.length, reads, "Not even the store is read for it");
  assertEquals((await send("/v1/pets?limit=1")).status, 200);
  const unchanged = await send(LARGE, { headers: { "if-none-match": etag } });
  assertEquals(unchanged.status, 304);
  await runtime.advance(1);
  await runtime.settle(asking);
  assertEquals(responded.sort(), [LARGE, other]);
});

Deno.test("readers of large pages alone make no long rests", async () => {
  await using opened = await openLarge();
  const { send, runtime } = opened;
  await send(LARGE);
  const start = runtime.monotonicNow();
  for (let round = 0; round < 10; round++) {
    await runtime.advance(TURN_MS);
    const asked = send(LARGE);
    await runtime.advance(0);
    await asked;
  }
  assertEquals(runtime.monotonicNow() - start, 10 * TURN_MS);
});

Deno.test("LargePages refuses more when slow clients read too many different pages", async () => {
  const pages = new LargePages(new BackgroundWork(new FakeRuntime()));
  const pageOf = (text: string): Page => ({ text, hash: "", head: EMPTY_HEAD });
  const all = Array.from({ length: 4 }, () => pageOf("x".repeat(READ_LENGTH_LIMIT / 4)));
  const readers = all.map((page) => pages.stream(page, page.text).getReader());
  for (const reader of readers) await reader.read();
  const more = pageOf("y".repeat(LARGE_PAGE_LENGTH));
  const refused = () => pages.stream(more, more.text);
  assertEquals(assertThrows(refused, ServiceError).code, "overloaded");
  const shared = pages.stream(all[0], all[0].text).getReader();
  await shared.read();
  await readers[0].cancel();
  assertThrows(refused, ServiceError);
  await shared.cancel();
  let length = 0;
  for await (const chunk of refused()) length += chunk.length;
  assertEquals(length, more.text.length);
  for (const reader of readers.slice(1)) await reader.cancel();
  assert(refused() instanceof ReadableStream);
});
