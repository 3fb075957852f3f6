import { assertEquals } from "@std/assert";
import { BODY_LIMIT_BYTES } from "../../../src/runtime/service_request.ts";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";
import { utf8 } from "../../support/utf8.ts";

const REX = '{"name":"Rex","categoryId":1}';

testEachWay(
  "every notation of the JSON media type is accepted, and no encoding",
  async ({ add }) => {
    const types = ["application/json", "Application/JSON", "application/json;charset=utf-8"];
    types.push('application/json; charset="UTF-8"', "application/json ; charset=UTF-8");
    for (const type of [...types, "application/json;"]) {
      const response = await add(REX, { "content-type": type });
      await response.body?.cancel();
      assertEquals(response.status, 201, type);
    }
    const encoded = await add(REX, { "content-encoding": "gzip" });
    assertEquals(await encoded.json().then(({ code }) => code), "unsupported_media_type");
    assertEquals(encoded.headers.get("accept-encoding"), "identity");
  },
);

testEachWay("a body of up to 64 KiB is accepted, with a length or chunked", async (service) => {
  const padding = " ".repeat(BODY_LIMIT_BYTES - REX.length);
  assertEquals((await (await service.add(REX + padding)).json()).id, 1);
  const headers = { "content-type": "application/json" };
  const sendChunks = (chunks: Uint8Array[]) => {
    const body = ReadableStream.from(chunks);
    return service.send("/v1/pets", { method: "POST", headers, body });
  };
  const small = utf8('{"name":"Zoë 🐈","categoryId":1}');
  const created = await sendChunks(Array.from(small, (byte) => Uint8Array.of(byte)));
  assertEquals(await created.json(), { id: 2, name: "Zoë 🐈", categoryId: 1 });
  const requests = [
    () => service.add(`${REX}${padding} `),
    () => service.add(" ".repeat(3_000_000)),
    () => sendChunks(Array(48).fill(new Uint8Array(65_000).fill(0x20))),
    // Only a short body of a removal is ignored.
    () => service.remove(1, {}, " ".repeat(BODY_LIMIT_BYTES + 1)),
  ];
  for (const request of requests) {
    await assertRefused(service, request, { status: 413, code: "body_too_large" });
  }
});
