import { assertEquals } from "@std/assert";
import { decodeUnreserved, urlParts } from "../../src/runtime/service_request.ts";
import { Random } from "../sim/random.ts";

/** The text of a byte in a URL. */
const encoded = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;

Deno.test("decodeUnreserved() decodes exactly the unreserved characters, once, in any case", () => {
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte);
    const isUnreserved = /[A-Za-z0-9._~-]/.test(character);
    for (const text of [encoded(byte), encoded(byte).toUpperCase()]) {
      assertEquals(decodeUnreserved(`/a${text}1`), `/a${isUnreserved ? character : text}1`);
    }
  }
  for (const text of ["/%2531", "/%", "/%3", "/%zz", "/%%", "/%u0031", "/v1/pets"]) {
    assertEquals(decodeUnreserved(text), text);
  }
  assertEquals(decodeUnreserved("/%%31/%2E%2e/%312"), "/%1/../12");
});

Deno.test("urlParts() takes a URL apart without a change", () => {
  const parts = (authority: string, path: string, search = "") => ({ authority, path, search });
  assertEquals(urlParts("http://a:1/b%2f/?c=/d?e"), parts("a:1", "/b%2f/", "c=/d?e"));
  assertEquals(urlParts("http://a"), parts("a", "/"));
  assertEquals(urlParts("http://a?b://c"), parts("a", "/", "b://c"));
  assertEquals(urlParts("://"), parts("", "/"));
});

Deno.test("urlParts() gives any other text the path that it is, and never throws", () => {
  const parts = (path: string, search = "") => ({ authority: "", path, search });
  assertEquals(urlParts("*x:y://z"), parts("*x:y://z"));
  assertEquals(urlParts("*?a:b://c"), parts("*", "a:b://c"));
  assertEquals(urlParts("*:a://"), parts("*:a://"));
  assertEquals(urlParts(""), parts("/"));
  const random = new Random(1);
  const pieces = [":", "/", "?", "#", "*", "a", "\n", "\r", "\0", "\u2028", "\ud800", "://"];
  for (let count = 0; count < 20_000; count++) {
    const text = Array.from({ length: random.integer(0, 9) }, () => random.pick(pieces)).join("");
    const { authority, path, search } = urlParts(text);
    assertEquals(
      [authority, path, search].map((part) => typeof part).join(),
      "string,string,string",
    );
  }
});
