import { assertEquals } from "@std/assert";
import { Networks } from "../../src/runtime/networks.ts";

const CASES: [networks: string, inside: string[], outside: string[]][] = [
  ["127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "::1", "::ffff:127.0.0.1", ""]],
  ["10.0.0.0/8, ::1", ["10.0.0.0", "10.255.255.255", "::1", "0:0::1"], [
    "9.255.255.255",
    "11.0.0.0",
  ]],
  ["10.1.2.3/8", ["10.9.9.9"], ["11.0.0.0"]],
  ["100.64.0.0/10", ["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]],
  ["0.0.0.0/0", ["0.0.0.0", "8.8.8.8", "255.255.255.255"], ["::", "::ffff:8.8.8.8", "2001::1"]],
  ["::/0", ["::", "::ffff:8.8.8.8", "ffff::"], ["0.0.0.0", "8.8.8.8"]],
  ["::/3", ["::1", "1fff::"], ["2000::", "10.0.0.1"]],
  ["FE80::/10", ["fe80::1", "FEBF::"], ["fe80::1%eth0", "fec0::"]],
  ["127.0.0.0/8", [], ["127.1", "0x7f.1", "2130706433", "127.0.0.1.", "127.0.0.01", "localhost"]],
];

Deno.test("has() is true for the addresses of the networks, and for no other text", () => {
  for (const [text, inside, outside] of CASES) {
    const networks = Networks.parse(text)!;
    for (const address of inside) assertEquals(networks.has(address), true, `${text}: ${address}`);
    for (const address of outside) {
      assertEquals(networks.has(address), false, `${text}: ${address}`);
    }
  }
});

Deno.test("parse() refuses all but addresses and networks", () => {
  const texts = ["", " ", ",", "10.0.0.0/8,", "10.0.0.0/33", "::/129", "10.0.0.0/", "10/8", "all"];
  const others = [
    "localhost",
    "10.0.0.1-10.0.0.9",
    "fe80::1%eth0",
    "[::1]",
    "0x7f.1",
    "10.0.0.0/-1",
  ];
  for (const text of [...texts, ...others]) assertEquals(Networks.parse(text), undefined, text);
});
