import { assert, assertEquals, assertLess } from "@std/assert";
import { openTestService } from "../../support/test_service.ts";

const LIMIT_BYTES = 60_000;

Deno.test("the files of the window refer only to each other, and take at most 60 KB in each encoding", async () => {
  await using service = await openTestService();
  for (const coding of ["gzip", "br"]) {
    let total = 0;
    const paths = new Set(["/window"]);
    for (const path of paths) {
      const text = await (await service.sendBare(path)).text();
      const references = path === "/window"
        ? /(?:src|href)="([^"]+)"/g
        : /^import .* from "(.+)"/gm;
      for (const [, name] of text.matchAll(references)) {
        const { pathname } = new URL(name, `http://localhost${path}`);
        if (pathname !== "/docs") paths.add(pathname);
      }
      const response = await service.sendBare(path, { headers: { "accept-encoding": coding } });
      const { status, headers } = response;
      assertEquals([path, status, headers.get("content-encoding")], [path, 200, coding]);
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      total += (await response.bytes()).length;
    }
    assertEquals(paths.size, 6, [...paths].join());
    assertLess(total, LIMIT_BYTES);
  }
});

Deno.test("the window has no inline code, and its policy forbids it and everything from elsewhere", async () => {
  await using service = await openTestService();
  const page = await service.sendBare("/window");
  assertEquals(
    page.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assert(!/<script(?![^>]* src=)|<style|\s(?:on\w+|style)=|https?:/.test(await page.text()));
});
