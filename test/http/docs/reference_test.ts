import { assertEquals, assertGreater, assertLess, assertStringIncludes } from "@std/assert";
import type { RequestHandler } from "../../../src/http/handler.ts";
import { chromiumPath, launchChromium, type Page } from "../../support/chromium.ts";
import { serveOnSocket } from "../../support/test_each_way.ts";
import { testIf } from "../../support/test_if.ts";
import { openTestService, type TestService } from "../../support/test_service.ts";

/** A service behind a proxy that adds a path prefix, and a browser. */
interface Parts {
  service: TestService;
  origin: string;
  /** Opens the reference in a session of its own. */
  open: (options?: { colorScheme?: "dark"; width?: number }) => Promise<Page>;
}

const PREFIX = "/shop";

const chromium = chromiumPath();

/** Declares a test in a real browser. There must be no error, policy violation or request to another origin. */
function testInBrowser(name: string, check: (parts: Parts) => Promise<void>): void {
  const inBrowser = chromium === undefined ? " (ignored: no chromium that may be run)" : "";
  testIf(chromium !== undefined)(`${name}, in a real browser${inBrowser}`, async () => {
    await using service = await openTestService();
    await using server = serveOnSocket({ handler: behindPrefix(service.handler) });
    await using browser = await launchChromium(chromium);
    const origin = `http://127.0.0.1:${server.port}${PREFIX}`;
    const complaints: string[] = [];
    const open: Parts["open"] = async ({ colorScheme, width = 1280 } = {}) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 844 } });
      page.on("console", (message: { text(): string }) => complaints.push(message.text()));
      page.on("pageerror", (error: Error) => complaints.push(error.message));
      page.on("request", (request: { url(): string }) => {
        if (!request.url().startsWith(`${origin}/`)) complaints.push(request.url());
      });
      await page.goto(`${origin}/docs`);
      await keyField(page).waitFor();
      return page;
    };
    await check({ service, origin, open });
    const greeting = /^@scalar\/api-reference@[0-9.]+$/;
    assertEquals(complaints.filter((text) => !greeting.test(text)), []);
  });
}

/** A handler that knows only the addresses under the prefix, and gives them to `handler` without it. */
function behindPrefix(handler: RequestHandler): RequestHandler {
  return async (request, connection) => {
    const url = new URL(request.url);
    // Besides what the page requests, which is watched, the browser asks for /favicon.ico.
    if (!url.pathname.startsWith(`${PREFIX}/`)) return new Response(null, { status: 204 });
    url.pathname = url.pathname.slice(PREFIX.length);
    const { method, headers, body } = request;
    return await handler(new Request(url, { method, headers, body }), connection);
  };
}

testInBrowser(
  "the reference lists, adds, reads and changes an animal",
  async ({ service, open }) => {
    await service.add('{"name":"Rex","categoryId":9223372036854775807}');
    const page = await open();
    await keyField(page).fill(`Bearer ${service.token}`);

    const exact = '"categoryId": 9223372036854775807';
    assertStringIncludes(await responseThrough(page, "pets/GET/pets"), exact);

    const mia = '{"name":"Mia","categoryId":-9223372036854775808}';
    const added = await responseThrough(page, "pets/POST/pets", mia);
    assertStringIncludes(added, '"id": 2');
    assertStringIncludes(added, '"categoryId": -9223372036854775808');
    assertEquals(
      await (await service.send("/v1/pets/2")).text(),
      '{"id":2,"name":"Mia","categoryId":-9223372036854775808}',
    );

    assertStringIncludes(await responseThrough(page, "pets/GET/pets/{petId}"), '"name": "Rex"');
    const sold = await responseThrough(page, "pets/PATCH/pets/{petId}", '{"status":"sold"}');
    assertStringIncludes(sold, '"status": "sold"');
  },
);

testInBrowser("the reference keeps the key for the session only", async (parts) => {
  const { service: { token }, origin, open } = parts;
  const page = await open();
  for (const text of [`  Bearer ${token}\n`, `Authorization: bearer ${token}`, token]) {
    await keyField(page).fill(text);
    assertEquals(await keyField(page).inputValue(), token);
  }
  // Scalar writes it a moment after the input.
  for (let tries = 0; !await page.evaluate(holds("sessionStorage", token)); tries++) {
    assertLess(tries, 600);
    await page.waitForTimeout(50);
  }
  await page.reload();
  await keyField(page).waitFor();
  assertEquals(await keyField(page).inputValue(), token);
  assertEquals(await keyField(await open()).inputValue(), "");
  // Only the reference replaces localStorage, so this is the browser's own.
  await page.goto(`${origin}/docs/reference.js`);
  assertEquals(await page.evaluate(holds("localStorage", token)), false);
  assertEquals(await page.evaluate("document.cookie"), "");
  assertEquals(await page.evaluate("indexedDB.databases()"), []);
});

testInBrowser("the reference fits a phone and follows the colour mode", async ({ open }) => {
  const page = await open({ colorScheme: "dark", width: 390 });
  for (const name of ["Paging", "Limits", "Errors"]) {
    await page.locator("main").getByRole("heading", { name }).first().waitFor();
  }
  assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 390);
  const colour = "getComputedStyle(document.querySelector('main')).color";
  assertGreater(Number(/\d+/.exec(await page.evaluate(colour))), 191);
});

testInBrowser(
  "the samples of the reference have the address of the page",
  async ({ origin, open }) => {
    const page = await open();
    // Scalar draws a section only when it is near.
    await section(page, "events/GET/events").scrollIntoViewIfNeeded();
    const sample = await section(page, "events/GET/events").locator("pre code").first()
      .textContent();
    assertStringIncludes(sample!, `${origin}/v1/events`);
  },
);

function keyField(page: Page) {
  return page.locator(".scalar-password-input").first();
}

/** A script that says whether a storage of the page has a value with the key. */
function holds(storage: string, key: string): string {
  return `JSON.stringify(Object.entries(${storage})).includes("${key}")`;
}

/** The section of an operation, such as `pets/GET/pets/{petId}`. */
function section(page: Page, operation: string) {
  return page.locator(`[id$="/tag/${operation}"]`);
}

/** Sends a request through the page, and returns the body of the response as the page shows it. */
async function responseThrough(
  page: Page,
  operation: string,
  body?: string,
): Promise<string> {
  await section(page, operation).getByRole("button", { name: /Test Request/ }).click();
  const dialog = page.getByRole("dialog", { name: /./ });
  if (body !== undefined) {
    const editor = await dialog.locator("[contenteditable]").filter({ hasText: "status" })
      .elementHandle();
    do {
      await editor.fill(body);
      // Scalar takes over what was typed after a short pause. A page that still loads may add its own text.
      await page.waitForTimeout(2_000);
    } while (await editor.textContent() !== body);
  }
  await dialog.getByRole("button", { name: /^Send \w+ request/ }).click();
  const response = await dialog.locator("[class*=response-section] .cm-content").first()
    .textContent();
  await page.keyboard.press("Escape");
  return response ?? "";
}
