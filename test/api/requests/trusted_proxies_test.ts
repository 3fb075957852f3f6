import { assertEquals } from "@std/assert";
import { TrustedProxies } from "../../../src/api/requests/trusted_proxies.ts";

const PROXIES = "10.0.0.0/8, 127.0.0.1,2001:db8:1::/48, ::1";

/** The peer and its `X-Forwarded-For`, and the address of the client. */
const CASES: [peer: string, forwardedFor: string | undefined, client: string][] = [
  // A peer that is not trusted is the client, whatever it says.
  ["198.51.100.7", undefined, "198.51.100.7"],
  ["198.51.100.7", "203.0.113.1", "198.51.100.7"],
  ["11.0.0.1", "203.0.113.1", "11.0.0.1"],
  ["2001:db8:2::1", "203.0.113.1", "2001:db8:2::1"],
  ["fe80::1%eth0", "203.0.113.1", "fe80::1%eth0"],
  ["", "203.0.113.1", ""],
  // The last address that no trusted proxy has is the client. It can forge those before.
  ["127.0.0.1", "203.0.113.1", "203.0.113.1"],
  ["127.0.0.1", "192.0.2.66, 203.0.113.1", "203.0.113.1"],
  ["127.0.0.1", "192.0.2.66, 203.0.113.1, 10.1.2.3", "203.0.113.1"],
  ["127.0.0.1", "10.0.0.9, 203.0.113.1,10.1.2.3 , 10.1.2.4", "203.0.113.1"],
  ["::1", "2001:DB8:2::1", "2001:DB8:2::1"],
  ["2001:db8:1::5", "2001:db8:2::1, 2001:db8:1::6", "2001:db8:2::1"],
  // A server for IPv4 and IPv6 writes an IPv4 address as an IPv6 address.
  ["::ffff:127.0.0.1", "203.0.113.1", "203.0.113.1"],
  ["::ffff:10.0.0.1", "::ffff:203.0.113.1", "203.0.113.1"],
  ["::ffff:11.0.0.1", "203.0.113.1", "11.0.0.1"],
  // Some proxies add the port.
  ["127.0.0.1", "203.0.113.1:50123", "203.0.113.1"],
  ["127.0.0.1", "[2001:db8:2::1]:50123", "2001:db8:2::1"],
  ["127.0.0.1", "[2001:db8:2::1]", "2001:db8:2::1"],
  // Without an address of a client, it is the last proxy that is known.
  ["127.0.0.1", undefined, "127.0.0.1"],
  ["127.0.0.1", "", "127.0.0.1"],
  ["127.0.0.1", "10.1.2.3", "10.1.2.3"],
  ["127.0.0.1", "203.0.113.1, unknown", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.1, unknown, 10.1.2.3", "10.1.2.3"],
  ["127.0.0.1", "203.0.113.1, , 10.1.2.3", "10.1.2.3"],
  ["127.0.0.1", "203.0.113.1\t10.1.2.3", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.999", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.1:x", "127.0.0.1"],
  ["127.0.0.1", "fe80::1%<script>", "127.0.0.1"],
];

Deno.test("clientOf() believes only what trusted proxies have added to X-Forwarded-For", () => {
  const proxies = TrustedProxies.parse(PROXIES)!;
  for (const [peer, forwardedFor, client] of CASES) {
    const headers = new Headers();
    if (forwardedFor !== undefined) headers.set("x-forwarded-for", forwardedFor);
    assertEquals(proxies.clientOf(peer, headers), client, `${peer}: ${forwardedFor}`);
  }
});

Deno.test("clientOf() reads several headers X-Forwarded-For as one", () => {
  const proxies = TrustedProxies.parse(PROXIES)!;
  const headers = new Headers();
  for (const value of ["192.0.2.66", "203.0.113.1", "10.1.2.3"]) {
    headers.append("x-forwarded-for", value);
  }
  assertEquals(proxies.clientOf("127.0.0.1", headers), "203.0.113.1");
});

Deno.test("parse() refuses what is not a list of addresses and networks", () => {
  for (
    const text of [
      ...["proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "*", ","],
      ...["::1/129", "127.0.0.1,", "10.0.0.0/8/8", "10.0.0.0/8x", "10.0.0.0/0x8", "::1%eth0"],
    ]
  ) {
    assertEquals(TrustedProxies.parse(text), undefined, text);
  }
});
