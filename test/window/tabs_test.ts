/** Several tabs of one browser: they share the key, and those that nobody sees need no connection. */

import { assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { row, tab } from "../support/window_controls.ts";

/** In this browser, each tab takes itself for visible. */
async function setVisible(page: Page, isVisible: boolean): Promise<void> {
  const state = isVisible ? "visible" : "hidden";
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}

testInBrowser("seven tabs and more work, because hidden ones pause", async ({ service, open }) => {
  await service.add({ name: "Rex", categoryId: 7 });
  const first = await open(`/window#key=${service.token}`);
  await row(first, "Rex").waitFor();
  const pages = [first];
  while (pages.length < 8) {
    const last = pages.at(-1);
    await expectSoon(() => last.streams.size, 1);
    await setVisible(last, false);
    await expectSoon(() => last.streams.size, 0);
    const page = await open(`/window#key=${service.token}`, { beside: first });
    await row(page, "Rex").waitFor();
    pages.push(page);
  }
  await service.add({ name: "Mia", categoryId: 7 });
  await row(pages.at(-1), "Mia").waitFor();
  assertEquals(await row(first, "Mia").count(), 0);
  await setVisible(first, true);
  await row(first, "Mia").waitFor();
  await tab(first, "All 2").waitFor();
});
