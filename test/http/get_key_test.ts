import { assertEquals } from "@std/assert";
import { issueApiKey, rotateApiKey } from "../../src/keys/write_api_key.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const HOUR_MS = 3_600_000;

function ask({ send }: TestService, token: string): Promise<Response> {
  return send("/v1/key", { headers: { authorization: `Bearer ${token}` } });
}

Deno.test("GET /v1/key says whether the key may only read, and when it ends, also after its rotation", async () => {
  await using service = await openTestService();
  const now = service.runtime.now();
  const expiresAt = now + 3 * HOUR_MS;
  const reader = await issueApiKey(service, { label: "Zoë's reader", isReadOnly: true, expiresAt });
  const before = { id: reader.id, label: "Zoë's reader", readOnly: true };
  const ending = (ms: number) => ({ ...before, expiresAt: new Date(ms).toISOString() });
  assertEquals(await (await ask(service, reader.token)).json(), ending(expiresAt));
  const { successor } = await rotateApiKey(service, reader.id, { overlapMs: HOUR_MS });
  assertEquals(await (await ask(service, reader.token)).json(), ending(now + HOUR_MS));
  const after = await (await ask(service, successor.token)).json();
  assertEquals([after.id, after.readOnly], [successor.id, true]);
});
