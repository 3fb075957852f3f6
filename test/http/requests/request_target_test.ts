import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "../../../src/http/errors.ts";
import {
  expectHost,
  originOfRequest,
  requestTarget,
} from "../../../src/http/requests/request_target.ts";
import { permitted } from "../../support/permitted.ts";
import { connect } from "../../support/raw_connection.ts";
import { openTestService } from "../../support/test_service.ts";
import { serveOnSocket } from "../../support/test_each_way.ts";

const originFor = (url: string, host?: string) => {
  const request = new Request(url, host === undefined ? {} : { headers: { host } });
  return originOfRequest(url, expectHost(request, "http://unnamed/"));
};

Deno.test("the origin is the scheme of the URL and the Host, or else the authority of the URL", () => {
  assertEquals(originFor("http://a.example/v1/pets", "a.example"), "http://a.example");
  assertEquals(originFor("https://a.example/v1/pets", "a.example:8443"), "https://a.example:8443");
  assertEquals(originFor("http://a.example:8000/v1/pets?x=/"), "http://a.example:8000");
  assertEquals(originFor("http://[::1]:8000?x"), "http://[::1]:8000");
});

Deno.test("expectHost() refuses a missing Host, and a Host or an authority that is not a host name", () => {
  for (const host of ["", "a/b", "a?b", "a#b", "me@a", "a b", "a<b", "a:b", "a:123456"]) {
    assertThrows(() => originFor("http://a.example/", host), HttpError, "must be one host name");
  }
  assertThrows(() => originFor("http://unnamed/v1/pets"), HttpError, "is missing");
});

Deno.test("requestTarget() splits a URL into its path and its query", () => {
  const cases = [
    ["http://a/v1/pets?limit=1", "/v1/pets", "limit=1"],
    ["http://a/v1/pets?", "/v1/pets", ""],
    ["http://a/v1/pets", "/v1/pets", ""],
    ["http://a?x=/y", "/", "x=/y"],
    ["http://a", "/", ""],
  ];
  for (const [url, path, search] of cases) assertEquals(requestTarget(url), { path, search }, url);
});

Deno.test({
  name: "a target in absolute form neither routes elsewhere nor leads into the links",
  ignore: !permitted("net"),
  async fn() {
    await using service = await openTestService();
    await service.add({ name: "Rex", categoryId: 1 });
    await using server = await serveOnSocket(service);
    using connection = await connect(server.port);
    await connection.write(
      "GET http://evil.example>/v1/pets/1 HTTP/1.1\r\nHost: shop.example\r\n" +
        `Authorization: Bearer ${service.token}\r\n\r\n`,
    );
    const response = await connection.answer();
    const link = /^link: (.*)\r$/m.exec(response)?.[1];
    assertEquals(link, '<http://shop.example/v1/pets?status=available>; rel="successor-version"');
  },
});
