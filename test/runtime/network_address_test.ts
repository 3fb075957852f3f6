import { assertEquals } from "@std/assert";
import { isHost, parseHttpAddress } from "../../src/runtime/network_address.ts";

Deno.test("isHost() accepts names and IP addresses, and nothing that a permission flag takes apart", () => {
  const name = `${"a".repeat(63)}.`.repeat(3);
  const hosts = ["db", "db.example", "db.example.", "a_b-c", "0.0.0.0", "::", "::1", "[::1]"];
  for (const text of [...hosts, "fe80::1%eth0", "::ffff:1.2.3.4", name]) {
    assertEquals([text, isHost(text)], [text, true]);
  }
  const others = ["", ".", "..", "a..b", "*", "*.example", "a,b", "%00", "a%00b", "::1%00", ":"];
  for (const text of [...others, "1:2", "::1]/[", "a b", `${name}${name}`, "a".repeat(64)]) {
    assertEquals([text, isHost(text)], [text, false]);
  }
});

Deno.test("parseHttpAddress() accepts http(s) addresses of a host", () => {
  for (const text of ["http://w.example/log", "HTTPS://[::1]:8443", "http://127.0.0.1:9/w"]) {
    assertEquals(parseHttpAddress(text)?.href, new URL(text).href);
  }
  const others = ["a,b", "a%2cb", "*", "..", "a..b", "a%00b", "x/%00"].map((it) => `http://${it}`);
  for (const text of [...others, "w.example", "ftp://w.example"]) {
    assertEquals([text, parseHttpAddress(text)], [text, undefined]);
  }
});
