import {
  assertEquals,
  assertGreater,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { chromiumPath, launchChromium, type Page } from "../../support/chromium.ts";
import { openTestService } from "../../support/test_service.ts";
import { assertError, serveOnSocket } from "../../support/test_each_way.ts";

Deno.test("GET / redirects to the page, without a key", async () => {
  await using service = await openTestService();
  const response = await service.sendBare("/");
  assertEquals(response.status, 302);
  assertEquals(response.headers.get("location"), "docs");
});

Deno.test({
  name: "GET /docs returns a page that refers only to files of the service",
  async fn() {
    await using service = await openTestService();
    const response = await service.sendBare("/docs");
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
    assertEquals(response.headers.get("cache-control"), "no-cache");
    const page = await response.text();
    const files = [...page.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, name]) => name);
    assertEquals(files.length, 5);
    for (const file of files) {
      const { status, headers } = await service.sendBare(`/${file}`);
      const type = file.split(".").at(-1)!.replace(/^js$/, "javascript");
      assertEquals(status, 200, file);
      assertStringIncludes(headers.get("content-type")!, type);
    }
  },
});

Deno.test({
  name: "the files of the page have a hash in their addresses and may be cached for a year",
  async fn() {
    await using service = await openTestService();
    const page = await (await service.sendBare("/docs")).text();
    const files = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, name]) => name);
    assertEquals(files.length, 4);
    for (const file of files) {
      assertMatch(file, /^docs\/[a-z_-]+\.[0-9a-f]{16}\.(css|js)$/);
      const { headers } = await service.sendBare(`/${file}`);
      assertEquals(headers.get("cache-control"), "public, max-age=31536000, immutable");
      const unknown = { status: 404, code: "not_found" };
      const otherHash = file.replace(/[0-9a-f]{16}/, "0123456789abcdef");
      await assertError(await service.sendBare(`/${otherHash}`), unknown);
      const plainName = file.replace(/\.[0-9a-f]{16}/, "");
      await assertError(await service.send(`/${plainName}`), unknown);
    }
  },
});

Deno.test({
  name: "GET /docs forbids scripts, styles and requests of other origins",
  async fn() {
    await using service = await openTestService();
    const { headers } = await service.sendBare("/docs");
    assertEquals(headers.get("content-security-policy")?.split("; ").slice(0, 5), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src data:",
      "connect-src 'self'",
    ]);
  },
});

/** Collects policy violations, errors and requests to other origins from now on. */
function watch(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(`${origin}/`) || request.url().startsWith("data:");
    if (!isOurs) complaints.push(request.url());
  });
  return complaints;
}

/** Opens an operation, executes it, and returns the body of the response as the page shows it. */
async function responseThrough(page: Page, operation: string, body?: string): Promise<string> {
  const block = page.locator(`#operations-Pets-${operation}`);
  await block.locator(".opblock-summary-control").click();
  if (body !== undefined) await block.locator("textarea").fill(body);
  await block.locator("button.execute").click();
  return await block.locator(".live-responses-table code").first().textContent() ?? "";
}

const chromium = chromiumPath();

const inBrowser = `, in a real browser${
  chromium === undefined ? " (ignored: no chromium that may be run)" : ""
}`;

Deno.test({
  name: `the page lists, adds and reads an animal${inBrowser}`,
  ignore: chromium === undefined,
  async fn() {
    await using service = await openTestService();
    await using server = await serveOnSocket(service);
    await service.add('{"name":"Rex","categoryId":9223372036854775807}');
    await using browser = await launchChromium(chromium);
    const page = await browser.newPage();
    const origin = `http://127.0.0.1:${server.port}`;
    const complaints = watch(page, origin);
    await page.goto(`${origin}/`);

    await page.click("button.authorize");
    await page.fill(".auth-container input", service.token);
    await page.click(".auth-container button.authorize");
    await page.click(".auth-container button.btn-done");

    const exact = '"categoryId": 9223372036854775807';
    assertStringIncludes(await responseThrough(page, "listPets"), exact);

    const mia = '{"name":"Mia","categoryId":-9223372036854775808}';
    const added = await responseThrough(page, "createPet", mia);
    assertStringIncludes(added, '"id": 2');
    assertStringIncludes(added, '"categoryId": -9223372036854775808');
    assertEquals(
      await (await service.send("/v1/pets/2")).text(),
      '{"id":2,"name":"Mia","categoryId":-9223372036854775808}',
    );

    assertStringIncludes(await responseThrough(page, "getPet"), '"name": "Rex"');
    assertEquals(complaints, []);
  },
});

Deno.test({
  name: `the page follows the preferred colour scheme and fits a phone${inBrowser}`,
  ignore: chromium === undefined,
  async fn() {
    await using service = await openTestService();
    await using server = serveOnSocket(service);
    await using browser = await launchChromium(chromium);
    const page = await browser.newPage({
      colorScheme: "dark",
      viewport: { width: 390, height: 844 },
    });
    await page.goto(`http://127.0.0.1:${server.port}/docs`);
    for (const operation of ["listPets", "createPet", "getPet"]) {
      await page.click(`#operations-Pets-${operation} .opblock-summary-control`);
    }
    const inkOf = async () => {
      const title = "document.querySelector('.info .title')";
      const ink = await page.evaluate<string>(`getComputedStyle(${title}).color`);
      return Number(/\d+/.exec(ink));
    };
    assertGreater(await inkOf(), 191);
    assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 390);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("html.dark-mode").waitFor({ state: "detached" });
    assertLess(await inkOf(), 64);
  },
});
