import { assert, assertEquals, assertLess, assertMatch, assertNotEquals } from "@std/assert";
import { assertError } from "../../support/test_each_way.ts";
import { openTestService, type TestService } from "../../support/test_service.ts";

/** The limits of all that the reference loads. Browsers use gzip only on plain HTTP to another machine. */
const WIRE_LIMIT_BYTES = { br: 1_000_000, gzip: 1024 ** 2 };

Deno.test("GET / and GET /docs/ redirect to the reference, without a key", async () => {
  await using service = await openTestService();
  for (const [path, location] of [["/", "docs"], ["/docs/", "../docs"]]) {
    const response = await service.sendBare(path);
    assertEquals([response.status, response.headers.get("location")], [302, location]);
  }
});

Deno.test("a guide with a slash at its end redirects to the guide, without a key", async () => {
  await using service = await openTestService();
  const response = await service.sendBare("/docs/errors/");
  assertEquals([response.status, response.headers.get("location")], [302, "../../docs/errors"]);
});

Deno.test("the base path redirects a browser to the reference, and changes for nobody else", async () => {
  await using service = await openTestService();
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  for (const [path, location] of [["/v1", "docs"], ["/v1/", "../docs"]]) {
    const response = await service.sendBare(path, { headers: { accept } });
    assertEquals([response.status, response.headers.get("location")], [302, location]);
    for (const headers of [undefined, { accept: "*/*" }, { accept: "application/json" }]) {
      const bare = { status: 401, code: "missing_credentials" };
      await assertError(await service.sendBare(path, { headers }), bare);
      await assertError(await service.send(path, { headers }), { status: 404, code: "not_found" });
    }
  }
});

Deno.test("GET /favicon.ico redirects to the icon of the pages", async () => {
  await using service = await openTestService();
  const { status, headers } = await service.sendBare("/favicon.ico");
  assertEquals(status, 302);
  const icon = await service.sendBare(`/${headers.get("location")}`);
  assertEquals(icon.headers.get("content-type"), "image/svg+xml; charset=utf-8");
  assertMatch(await icon.text(), /^<svg /);
  assert(filesOf(await pageAt(service, "/docs")).includes(`/${headers.get("location")}`));
});

Deno.test("every link and file of every page exists, without a key", async () => {
  await using service = await openTestService();
  const seen = new Set<string>();
  const pages = ["/docs"];
  for (const path of pages) {
    const page = await pageAt(service, path);
    for (const address of addressesOf(page, path)) {
      if (seen.has(address)) continue;
      seen.add(address);
      const { status, headers, body } = await service.sendBare(address);
      await body?.cancel();
      assertEquals(status, 200, `${address} in ${path}`);
      if (headers.get("content-type")!.startsWith("text/html")) pages.push(address);
    }
  }
  const guides = ["errors", "paging", "retries", "polling", "limits", "deprecation"];
  assertEquals(new Set(pages), new Set(["/docs", ...guides.map((name) => `/docs/${name}`)]));
});

Deno.test("the files of the pages have a hash in their addresses and may be cached for a year", async () => {
  await using service = await openTestService();
  const files = filesOf(await pageAt(service, "/docs"));
  assertEquals(files.length, 5);
  assertEquals(
    filesOf(await pageAt(service, "/docs/errors")).every((file) => files.includes(file)),
    true,
  );
  for (const file of files) {
    assertMatch(file, /^\/docs\/[a-z_]+\.[0-9a-f]{16}\.(css|js|svg)$/);
    const { headers, body } = await service.sendBare(file);
    await body?.cancel();
    assertEquals(headers.get("cache-control"), "public, max-age=31536000, immutable");
    const unknown = { status: 404, code: "not_found" };
    const otherHash = file.replace(/[0-9a-f]{16}/, "0123456789abcdef");
    await assertError(await service.sendBare(otherHash), unknown);
    await assertError(await service.send(file.replace(/\.[0-9a-f]{16}/, "")), unknown);
  }
});

Deno.test("the reference forbids scripts and requests of other origins, and styles without its nonce", async () => {
  await using service = await openTestService();
  const policies: string[] = [];
  for (let count = 0; count < 2; count++) {
    const { headers, body } = await service.sendBare("/docs");
    await body?.cancel();
    assertEquals(headers.get("cache-control"), "no-store");
    policies.push(headers.get("content-security-policy")!);
  }
  const [nonce, other] = policies.map((policy) => /'nonce-([0-9a-f]{32})'/.exec(policy)![1]);
  assertNotEquals(nonce, other);
  assertEquals(policies[0].split("; "), [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

Deno.test("the guides forbid everything but the service's own scripts, styles and images", async () => {
  await using service = await openTestService();
  const { headers, body } = await service.sendBare("/docs/errors");
  await body?.cancel();
  assertEquals(headers.get("cache-control"), "no-cache");
  assertEquals(headers.get("content-security-policy")!.split("; "), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

Deno.test("the reference with all its files takes at most 1 MB over the wire", async () => {
  await using service = await openTestService();
  const files = filesOf(await pageAt(service, "/docs"));
  for (const [encoding, limitBytes] of Object.entries(WIRE_LIMIT_BYTES)) {
    let total = 0;
    for (const path of ["/docs", "/openapi.json", ...files]) {
      const headers = { "accept-encoding": encoding };
      const response = await service.sendBare(path, { headers });
      total += (await response.bytes()).length;
    }
    assertLess(total, limitBytes, encoding);
  }
});

async function pageAt(service: TestService, path: string): Promise<string> {
  const response = await service.sendBare(path);
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
  return await response.text();
}

/** The paths of the scripts, styles and images of a page. */
function filesOf(page: string): string[] {
  return [...page.matchAll(/(?:src|href)="(?:\.\.\/)?(docs\/[^"]+\.[a-z]+)"/g)]
    .map(([, path]) => `/${path}`);
}

/** The paths within the service that a page refers to. */
function addressesOf(page: string, path: string): string[] {
  return [...page.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, address]) => new URL(address, `http://localhost${path}`))
    .filter(({ origin }) => origin === "http://localhost")
    .map(({ pathname }) => pathname);
}
