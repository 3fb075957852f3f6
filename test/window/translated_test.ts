/** A browser that translates the page: data stays as it is, and the page goes on to show the store. */

import { assertEquals } from "@std/assert";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";

/** Replaces each text by elements, as translators do, and follows the page. It runs in the page. */
const TRANSLATE = `(() => {
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "";
  const isWords = (node) => isText(node) && node.parentElement !== null &&
    node.parentElement.closest("[translate=no], .notranslate, font, option, script") === null;
  const translate = (text) => {
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = text.data.replace(/\\S.*\\S|\\S/s, "«$&»");
    outer.append(inner);
    text.replaceWith(outer);
    originals.set(outer, text);
  };
  const translateAll = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.filter(isWords).forEach(translate);
  };
  const originals = new Map();
  translateAll();
  const observer = new MutationObserver(translateAll);
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  globalThis.showOriginal = () => {
    observer.disconnect();
    for (const [translation, text] of originals) {
      if (translation.isConnected) translation.replaceWith(text);
    }
  };
})()`;

testInBrowser(
  "a page that a browser translates shows what happens, and translates no data",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    const row = (name: string) => page.locator("[data-id]").filter({ hasText: name });
    await row("Rex").waitFor();
    await page.evaluate(TRANSLATE);
    const tabs = page.getByRole("tab");
    const tabTexts = async () => (await tabs.allTextContents()).slice(0, 4).map(withoutMarks);
    await page.getByText("«Name»").first().waitFor();
    await expectSoon(tabTexts, ["All 1", "Available 1", "Pending 0", "Sold 0"]);
    assertEquals(await page.getByText(/«(Rex|Dogs|test)»/).count(), 0);
    await service.add({ name: "Mia", categoryId: 7, status: "sold" });
    await row("Mia").waitFor();
    await expectSoon(tabTexts, ["All 2", "Available 1", "Pending 0", "Sold 1"]);
    await service.change(1, { name: "Bella" });
    await row("Bella").waitFor();
    await row("Rex").waitFor({ state: "detached" });
    for (const name of ["Bella", "Mia"]) await row(name).getByRole("checkbox").click();
    const bar = page.locator(".selection");
    await expectSoon(
      async () => withoutMarks(await bar.locator("p").first().textContent()),
      "2 selected",
    );
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Activity" }).click();
    const first = page.locator(".events li .sentence").first();
    const told = async () => withoutMarks(await first.textContent());
    await expectSoon(told, "Rex was renamed Bella");
    await service.remove(2);
    await expectSoon(told, "Mia was removed");
    await page.getByRole("link", { name: "All animals" }).click();
    await row("Mia").waitFor({ state: "detached" });
    await row("Bella").getByRole("link").click();
    await page.getByRole("heading", { name: "Bella" }).waitFor();
    await service.change(1, { status: "pending" });
    const became = async () =>
      withoutMarks(await page.locator(".events ins").first().textContent());
    await expectSoon(became, "Pending");
    // The reader wants to see the original again.
    await page.evaluate("showOriginal()");
    await service.change(1, { status: "sold" });
    await expectSoon(became, "Sold");
    assertEquals(await page.getByText(/[«»]/).count(), 0);
    await page.getByRole("link", { name: "All animals" }).click();
    const expected = ["All 1", "Available 0", "Pending 0", "Sold 1", "No status 0", "Removed 1"];
    await expectSoon(() => tabs.allTextContents(), expected);
  },
);

/** What a text says, without the marks of its translation. */
function withoutMarks(text: string): string {
  return text.replaceAll(/[«»]/g, "").replaceAll(/\s+/g, " ").trim();
}
