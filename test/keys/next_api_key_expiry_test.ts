import { assertEquals } from "@std/assert";
import { NextApiKeyExpiry } from "../../src/keys/next_api_key_expiry.ts";
import { issueApiKey, revokeApiKey, rotateApiKey } from "../../src/keys/write_api_key.ts";
import { openTestService } from "../support/test_service.ts";

const DAY_MS = 86_400_000;

Deno.test("read() resolves to the first expiry of a live key without a successor", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const keyExpiry = new NextApiKeyExpiry(service);
  const begunAt = runtime.now();
  const issue = (days: number) =>
    issueApiKey(service, { label: `${days} days`, expiresAt: begunAt + days * DAY_MS });
  const expectDay = async (day: number | undefined) => {
    const next = await keyExpiry.read();
    assertEquals(next?.expiresAt, day && begunAt + day * DAY_MS);
  };
  await expectDay(undefined);
  const [third, second, first] = [await issue(30), await issue(20), await issue(10)];
  await expectDay(10);
  const terms = { overlapMs: DAY_MS, label: undefined, lifetimeMs: 40 * DAY_MS };
  await rotateApiKey(service, first.id, terms, () => Promise.resolve());
  await expectDay(20);
  await revokeApiKey(service, second.id);
  await expectDay(30);
  await runtime.advance(31 * DAY_MS);
  await expectDay(40);
  await revokeApiKey(service, third.id);
  await expectDay(40);
});
