/** Bodies that no story can send: in chunks, and very long ones. */

import { assertRefused } from "../../support/assert_error.ts";
import { openTestService } from "../../support/test_service.ts";

Deno.test("a body that is far too large gets 413, with a length or chunked", async () => {
  await using service = await openTestService();
  const chunks = Array(48).fill(new Uint8Array(65_000).fill(0x20));
  for (const body of [" ".repeat(3_000_000), ReadableStream.from(chunks)]) {
    const headers = { "content-type": "application/json" };
    const request = () => service.send("/v1/pets", { method: "POST", headers, body });
    await assertRefused(service, request, { status: 413, code: "body_too_large" });
  }
});
