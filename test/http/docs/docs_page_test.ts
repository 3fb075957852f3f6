import { assertEquals, assertLess } from "@std/assert";
import { assertError } from "../../support/test_each_way.ts";
import { openTestService } from "../../support/test_service.ts";

const PATHS = ["/docs", "/openapi.json", "/docs/icon.svg", "/docs/reference.js", "/docs/scalar.js"];

/** The limits of all that the reference loads. Browsers use gzip only on plain HTTP to another machine. */
const WIRE_LIMIT_BYTES = { br: 1_000_000, gzip: 1024 ** 2 };

Deno.test("the page refers to files of this service only, and all take at most 1 MB, without a key", async () => {
  await using service = await openTestService();
  const page = await (await service.sendBare("/docs")).text();
  const references = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => `/${path}`);
  assertEquals(new Set(["/docs", ...references]), new Set(PATHS));
  for (const [encoding, limitBytes] of Object.entries(WIRE_LIMIT_BYTES)) {
    let total = 0;
    for (const path of PATHS) {
      const headers = { "accept-encoding": encoding };
      const response = await service.sendBare(path, { headers });
      assertEquals([path, response.status], [path, 200]);
      assertEquals(response.headers.get("cache-control"), "no-cache");
      total += (await response.bytes()).length;
    }
    assertLess(total, limitBytes, encoding);
  }
  await assertError(await service.sendBare("/docs/x.js"), { status: 404, code: "not_found" });
});

Deno.test("the page forbids scripts of others, and requests to hosts other than those of the interface", async () => {
  const production = "https://shop.example/v1";
  for (const [addresses, host] of [[{}, ""], [{ production }, " https://shop.example"]] as const) {
    await using service = await openTestService(undefined, { addresses });
    const { headers, body } = await service.sendBare("/docs");
    await body?.cancel();
    assertEquals(headers.get("content-security-policy")!.split("; "), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'unsafe-inline'",
      `connect-src 'self'${host}`,
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  }
});
