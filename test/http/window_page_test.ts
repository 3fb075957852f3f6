import { assert, assertEquals, assertLess } from "@std/assert";
import { windowAssets } from "../../src/http/window_page.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const LIMIT_BYTES = 60_000;

Deno.test("the files of the window take at most 60 KB in each encoding", async () => {
  await using service = await openTestService();
  for (const coding of ["gzip", "br"]) {
    let total = 0;
    for (const path of await pathsOfPage(service)) {
      const response = await service.sendBare(path, { headers: { "accept-encoding": coding } });
      const { status, headers } = response;
      assertEquals([path, status, headers.get("content-encoding")], [path, 200, coding]);
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      total += (await response.bytes()).length;
    }
    assertLess(total, LIMIT_BYTES, coding);
  }
});

Deno.test("the page of the window names all files that are served for it", async () => {
  await using service = await openTestService();
  const served = [...windowAssets(() => {}).keys()];
  assertEquals((await pathsOfPage(service)).toSorted(), [...served, "/docs/icon.svg"].toSorted());
});

Deno.test("the window has no inline code, and its policy forbids it and everything from elsewhere", async () => {
  await using service = await openTestService();
  const page = await service.sendBare("/window");
  assertEquals(
    page.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assertEquals(page.headers.get("cross-origin-opener-policy"), "same-origin");
  assert(!/<script(?![^>]* src=)|<style|\s(?:on\w+|style)=|https?:/.test(await page.text()));
});

/** The paths of the page and of the files that it names, without the reference, to which it only links. */
async function pathsOfPage(service: TestService): Promise<string[]> {
  const page = await (await service.sendBare("/window")).text();
  const names = page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g);
  return ["/window", ...Array.from(names, ([, name]) => `/${name}`)];
}
