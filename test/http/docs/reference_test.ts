import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Page, testInBrowser } from "../../support/chromium.ts";
import { expectSoon } from "../../support/expect_soon.ts";
import { until } from "../../support/until.ts";

testInBrowser(
  "the reference lists and adds an animal",
  async ({ service, open }) => {
    await service.add('{"name":"Rex","categoryId":9223372036854775807}');
    const page = await open("/docs");
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
  },
);

testInBrowser("the reference keeps the key for the session only", async (parts) => {
  const { service: { token }, address, open } = parts;
  const page = await open("/docs");
  for (const text of [`  Bearer ${token}\n`, `Authorization: bearer ${token}`, token]) {
    await keyField(page).fill(text);
    await expectSoon(() => keyField(page).inputValue(), token);
  }
  // Scalar writes it a moment after the input.
  await expectSoon(() => page.evaluate(holds("sessionStorage", token)), true);
  await page.reload();
  await keyField(page).waitFor();
  await expectSoon(() => keyField(page).inputValue(), token);
  const other = await open("/docs");
  await keyField(other).waitFor();
  assertEquals(await keyField(other).inputValue(), "");
  // Only the reference replaces localStorage, so this is the browser's own.
  await page.goto(`${address}/docs/reference.js`);
  assertEquals(await page.evaluate(holds("localStorage", token)), false);
  assertEquals(await page.evaluate("document.cookie"), "");
  assertEquals(await page.evaluate("indexedDB.databases()"), []);
});

testInBrowser("the reference fits a phone and follows the colour mode", async ({ open }) => {
  const page = await open("/docs", { colorScheme: "dark", width: 390 });
  for (const name of ["Paging", "Limits", "Errors"]) {
    await page.locator("main").getByRole("heading", { name }).first().waitFor();
  }
  await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), 390);
  const colour = "getComputedStyle(document.querySelector('main')).color";
  await until(async () => Number(/\d+/.exec(await page.evaluate(colour))) > 191);
});

testInBrowser(
  "the samples of the reference have the address of the page",
  async ({ address, open }) => {
    const page = await open("/docs");
    for (const path of ["pets", "events", "key"]) {
      const operation = section(page, `${path}/GET/${path}`);
      // Scalar draws a section only when it is near.
      await operation.scrollIntoViewIfNeeded();
      await operation.locator("pre code").filter({ hasText: `${address}/v1/${path}` }).waitFor();
    }
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
  const shown = section(page, operation);
  // Scalar draws a section only when it is near.
  await shown.scrollIntoViewIfNeeded();
  await shown.getByRole("button", { name: /Test Request/ }).click();
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
