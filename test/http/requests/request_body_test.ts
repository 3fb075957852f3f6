import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../../../src/http/requests/request_body.ts";
import { readHead } from "../../../src/log/head.ts";
import { permitted } from "../../support/permitted.ts";
import { openTestService, type TestService } from "../../support/test_service.ts";
import { connect, type RawConnection, until } from "../../support/raw_connection.ts";
import { assertRefused, serveOnSocket, testEachWay } from "../../support/test_each_way.ts";

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
  const small = bytesOf('{"name":"Zoë 🐈","categoryId":1}');
  const created = await sendChunks(Array.from(small, (byte) => Uint8Array.of(byte)));
  assertEquals(await created.json(), { id: 2, name: "Zoë 🐈", categoryId: 1 });
  const requests = [
    () => service.add(`${REX}${padding} `),
    () => service.add(" ".repeat(3_000_000)),
    () => sendChunks(Array(48).fill(new Uint8Array(65_000).fill(0x20))),
  ];
  for (const request of requests) {
    await assertRefused(service, request, { status: 413, code: "body_too_large" });
  }
});

testOnTcp(
  "a connection is closed after the 408 for its body, with a declared length or chunked",
  async (service, open) => {
    const framings = ["Content-Length: 29\r\n\r\n" + REX.slice(0, 9)];
    framings.push(`Transfer-Encoding: chunked\r\n\r\n9\r\n${REX.slice(0, 9)}\r\n`);
    for (const framing of framings) {
      using connection = await open(`${post(service)}${framing}`);
      await until(() => service.runtime.waits().includes(BODY_LIMIT_MS));
      await service.runtime.advance(BODY_LIMIT_MS);
      const response = await connection.answer();
      assertStringIncludes(response, "HTTP/1.1 408 ");
      assertStringIncludes(response, "connection: close");
      assertStringIncludes(response, '"code":"request_timeout"');
      // Later bytes are neither the rest of the body nor another request.
      await connection.write(`${REX.slice(9)}\r\n${post(service)}Content-Length: 29\r\n\r\n${REX}`);
      assertEquals(await connection.rest(), "");
    }
  },
);

testOnTcp("an incomplete or too large body is refused before its end", async (service, open) => {
  const cases = [
    [`Content-Length: 29\r\n\r\n${REX.slice(0, 9)}`, 400, "malformed_body"],
    ["Content-Length: 3000000\r\n\r\n{", 413, "body_too_large"],
  ];
  for (const [rest, status, code] of cases) {
    using connection = await open(`${post(service)}${rest}`);
    if (status === 400) await connection.closeWrite();
    const response = await connection.answer();
    assertStringIncludes(response, `HTTP/1.1 ${status} `);
    assertStringIncludes(response, `"code":"${code}"`);
  }
  assertEquals(service.reports, [], "it is no failure of the service");
});

testOnTcp("contradictory or malformed headers add no pet", async (service, open) => {
  const framings = [
    `Content-Length: 29\r\nContent-Length: 28\r\n\r\n${REX}`,
    `Content-Length: 29\r\nTransfer-Encoding: chunked\r\n\r\n1d\r\n${REX}\r\n0\r\n\r\n`,
    `Content-Length: -1\r\n\r\n${REX}`,
    `Content-Length: 0x1d\r\n\r\n${REX}`,
    `Content-Length: 99999999999999999999\r\n\r\n${REX}`,
    `Transfer-Encoding: identity\r\nContent-Length: 29\r\n\r\n${REX}`,
    `Transfer-Encoding: chunked\r\n\r\nzz\r\n${REX}\r\n0\r\n\r\n`,
    `Content-Length: 29\r\nContent-Type: text/plain\r\n\r\n${REX}`,
    `Content-Length: 29\r\nAuthorization: Bearer ${service.token}\r\n\r\n${REX}`,
    `Content-Length: 29\r\nBroken header\r\n\r\n${REX}`,
    `Content-Length: 29\r\nX-Null: a\0b\r\n\r\n${REX}`,
  ];
  for (const framing of framings) {
    using connection = await open(`${post(service)}${framing}`);
    await connection.closeWrite();
    const response = await connection.answer();
    assert(response === "" || /^HTTP\/1\.1 4\d\d /.test(response), `${framing}: ${response}`);
  }
});

/**
 * Declares a test on bare connections, to send bytes that HTTP clients do not send. Asserts at the end that no
 * pet was stored and that the service still works.
 */
function testOnTcp(
  name: string,
  check: (service: TestService, open: (request: string) => Promise<RawConnection>) => Promise<void>,
): void {
  Deno.test({
    name: `${name} (over a socket)`,
    ignore: !permitted("net"),
    async fn() {
      await using service = await openTestService();
      await using server = await serveOnSocket(service);
      const before = await readHead(service.store);
      await check(service, async (request) => {
        const connection = await connect(server.port);
        await connection.write(request);
        return connection;
      });
      assertEquals(await readHead(service.store), before);
      assertEquals((await service.add(REX)).status, 201);
    },
  });
}

function post({ token }: TestService): string {
  return "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
    `Authorization: Bearer ${token}\r\n`;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
