import { assertEquals } from "@std/assert";
import { Networks } from "../../../src/runtime/networks.ts";
import { CallableAddresses } from "../../../src/webhooks/sending/callable_addresses.ts";
import { faultOfWebhookUrl } from "../../../src/webhooks/sending/webhook_url.ts";
import { PUBLIC_ADDRESSES, REFUSED_ADDRESSES } from "./addresses.ts";

const NOT_HTTPS = "must begin with https://";
const NOT_A_URL = "must be an absolute URL";
const PRIVATE = "must not lead to a private or special address";

const inUrl = (address: string) => address.includes(":") ? `[${address}]` : address;

Deno.test("A URL has a public host, or a name, and https", () => {
  const callable = new CallableAddresses(undefined);
  const cases: [url: string, fault: string | undefined][] = [
    ["https://receiver.example", undefined],
    ["https://receiver.example:8443/a/b?c=d", undefined],
    ["HTTPS://RECEIVER.EXAMPLE./", undefined],
    ["https://bücher.example/", undefined],
    ["https://localhost.example/", undefined],
    ["https://127.0.0.1.example/", undefined],
    ["http://receiver.example/", NOT_HTTPS],
    ["http://8.8.8.8/", NOT_HTTPS],
    ["ftp://receiver.example/", NOT_HTTPS],
    ["file:///etc/passwd", NOT_HTTPS],
    ["javascript:alert(1)", NOT_HTTPS],
    ["https://user@receiver.example/", "must have no user and no password"],
    ["https://:secret@receiver.example/", "must have no user and no password"],
    ["https://receiver.example/#", "must have no fragment"],
    ["https://receiver.example/#a", "must have no fragment"],
    ["", NOT_A_URL],
    ["/hook", NOT_A_URL],
    ["receiver.example/hook", NOT_A_URL],
    ["https://", NOT_A_URL],
    ["https://1.2.3.4.5/", NOT_A_URL],
    ["https://256.0.0.1/", NOT_A_URL],
    ["https://[fe80::1%25eth0]/", NOT_A_URL],
    ["https://[2606:4700::1111%25eth0]/", NOT_A_URL],
    [" https://receiver.example/", NOT_A_URL],
    ["https://receiver\n.example/", NOT_A_URL],
    ["https://receiver.example/\0", NOT_A_URL],
  ];
  for (const [url, fault] of cases) assertEquals(faultOfWebhookUrl(url, callable), fault, url);
});

Deno.test("A URL with a special address is refused in every spelling", () => {
  const callable = new CallableAddresses(undefined);
  for (const [address, what] of REFUSED_ADDRESSES) {
    const url = `https://${inUrl(address)}/`;
    assertEquals(faultOfWebhookUrl(url, callable), PRIVATE, `${address}: ${what}`);
  }
  for (const address of PUBLIC_ADDRESSES) {
    const url = `https://${inUrl(address)}/`;
    assertEquals(faultOfWebhookUrl(url, callable), undefined, address);
  }
  const spellings = [
    ...["0x7f.1", "0x7f000001", "0X7F.0x0.0x0.0x1", "2130706433", "017700000001", "0177.0.0.1"],
    ...["127.1", "127.0.1", "127.0.0.1.", "127.0.0.01", "0", "0.", "0x", "%31%32%37.0.0.1"],
    ...["１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1", "0xA9FEA9FE", "2852039166", "169.16689662"],
    ...[
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "a.b.localhost.",
      "ｌｏｃａｌｈｏｓｔ",
    ],
  ];
  for (const host of spellings) {
    assertEquals(faultOfWebhookUrl(`https://${host}/`, callable), PRIVATE, host);
  }
});

Deno.test("Only an address that the operator allows may have http, or be private", () => {
  const callable = new CallableAddresses(Networks.parse("127.0.0.1,10.0.0.0/8"));
  for (const scheme of ["http", "https"]) {
    for (const host of ["127.0.0.1", "0x7f.1", "localhost:3000", "10.255.0.1:8080"]) {
      assertEquals(faultOfWebhookUrl(`${scheme}://${host}/`, callable), undefined, host);
    }
    for (const host of ["127.0.0.2", "192.168.0.1", "[::1]", "[::ffff:127.0.0.1]"]) {
      assertEquals(faultOfWebhookUrl(`${scheme}://${host}/`, callable), PRIVATE, host);
    }
  }
  for (const host of ["receiver.example", "8.8.8.8"]) {
    assertEquals(faultOfWebhookUrl(`http://${host}/`, callable), NOT_HTTPS, host);
  }
});
