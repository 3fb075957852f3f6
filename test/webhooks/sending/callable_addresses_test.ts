import { assertEquals } from "@std/assert";
import { Networks } from "../../../src/runtime/networks.ts";
import {
  CallableAddresses,
  SPECIAL_NETWORKS,
} from "../../../src/webhooks/sending/callable_addresses.ts";
import { OTHER_TEXTS, PUBLIC_ADDRESSES, REFUSED_ADDRESSES } from "./addresses.ts";

Deno.test("A webhook connects to public addresses alone", () => {
  const callable = new CallableAddresses(undefined);
  for (const [address, what] of REFUSED_ADDRESSES) {
    assertEquals(callable.has(address), false, `${address}: ${what}`);
  }
  for (const address of PUBLIC_ADDRESSES) assertEquals(callable.has(address), true, address);
});

Deno.test("A text that is no address is not called, whatever is allowed", () => {
  const callable = new CallableAddresses(Networks.parse("0.0.0.0/0,::/0"));
  for (const text of OTHER_TEXTS) assertEquals(callable.has(text), false, text);
});

Deno.test("Each special network has an address among those that are refused", () => {
  for (const [network, purpose] of SPECIAL_NETWORKS) {
    const networks = Networks.parse(network)!;
    const refused = REFUSED_ADDRESSES.some(([address]) => networks.has(address));
    assertEquals(refused, true, `${network}: ${purpose}`);
  }
});

Deno.test("The operator allows what WEBHOOK_ALLOW names, and nothing more", () => {
  const callable = new CallableAddresses(Networks.parse("127.0.0.1,10.0.0.0/8,fd00::/8"));
  for (const address of ["127.0.0.1", "10.1.2.3", "fd00:ec2::254"]) {
    assertEquals([callable.has(address), callable.isAllowed(address)], [true, true], address);
  }
  const others = [
    "127.0.0.2",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a01:203",
    "192.168.0.1",
    "fc00::",
  ];
  for (const address of others) {
    assertEquals([callable.has(address), callable.isAllowed(address)], [false, false], address);
  }
  assertEquals([callable.has("8.8.8.8"), callable.isAllowed("8.8.8.8")], [true, false]);
});
