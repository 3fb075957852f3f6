/** Bodies that no story can send: in chunks, and very long ones. */

import { assertEquals } from "@std/assert";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";
import { utf8 } from "../../support/utf8.ts";

testEachWay("a body may come in chunks, also of parts of characters", async ({ send }) => {
  const bytes = utf8('{"name":"Zoë 🐈","categoryId":1}');
  const created = await send("/v1/pets", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))),
  });
  assertEquals(await created.json(), { id: 1, name: "Zoë 🐈", categoryId: 1 });
});

testEachWay("a body that is far too large gets 413, with a length or chunked", async (service) => {
  const chunks = Array(48).fill(new Uint8Array(65_000).fill(0x20));
  for (const body of [" ".repeat(3_000_000), ReadableStream.from(chunks)]) {
    const headers = { "content-type": "application/json" };
    const request = () => service.send("/v1/pets", { method: "POST", headers, body });
    await assertRefused(service, request, { status: 413, code: "body_too_large" });
  }
});
