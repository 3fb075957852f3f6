/** The surface: what a slow network shows, targets for fingers, the focus ring, and fields of our own. */

import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { FIELDS_BESIDE_NAME } from "../../src/window/data/fields.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  enterKey,
  expectAccessible,
  linkOf,
  press,
  row,
  signOut,
  tab,
} from "../support/window_controls.ts";

testInBrowser(
  "the page shows its header and a skeleton before its script has come",
  async ({ service, network, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.endsWith("/main.js")) await gate.promise;
      return await service.fetch(request);
    };
    const page = await open("/docs/icon.svg");
    await page.goto(`${address}/window#key=${service.token}`, { waitUntil: "commit" });
    await page.getByRole("heading", { name: "Animal Store" }).waitFor();
    const skeleton = page.getByText("Loading …");
    await skeleton.waitFor();
    const { height } = await page.locator(".bar").first().boundingBox();
    assertGreater(height, 40);
    const place = await page.getByRole("heading", { name: "Animal Store" }).boundingBox();
    gate.resolve();
    await row(page, "Rex").waitFor();
    await skeleton.waitFor({ state: "hidden" });
    const heading = page.getByRole("heading", { name: "Animal Store" });
    await expectSoon(() => heading.count(), 1);
    // Nothing moves when the script replaces it.
    await expectSoon(() => heading.boundingBox(), place);
  },
);

testInBrowser(
  "a page with a key reads the list once, while its scripts come, and each sign-in reads it again",
  async ({ service, network, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    let lists = 0;
    let gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.endsWith("/main.js")) await gate.promise;
      if (request.url.endsWith("/v1/pets?limit=100")) lists++;
      return await service.fetch(request);
    };
    gate.resolve();
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    assertEquals(lists, 1);
    gate = Promise.withResolvers();
    await page.goto(`${address}/window`, { waitUntil: "commit" });
    await expectSoon(() => lists, 2);
    assertEquals(await row(page, "Rex").count(), 0);
    gate.resolve();
    await row(page, "Rex").waitFor();
    await tab(page, "All 1").waitFor();
    assertEquals(lists, 2);
    await signOut(page);
    await service.add({ name: "Mia", categoryId: 7 });
    await enterKey(page, service.token);
    await row(page, "Mia").waitFor();
    assertEquals(lists, 3);
  },
);

/** Controls of the page that a finger cannot hit 21 pixels from their middle in each direction. */
const tooSmall = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const FIXED = "aside, .floating, .tabs, .menu:popover-open, .tools, .head, dialog";
    const isHit = (it, x, y) => {
      const found = document.elementFromPoint(x, y);
      // Outside of the screen, or below what lies above the page.
      if (found === null || found.closest(FIXED) !== it.closest(FIXED)) return true;
      return it.contains(found) || it.closest("label")?.contains(found);
    };
    const controls = [...document.querySelectorAll("button, input, select, a:not(.of-animal)")];
    const tooSmall = controls.filter((it) => {
      const isRow = it.matches(".name a") && innerWidth < 752;
      const target = isRow ? it.closest("[role=row]") : it;
      const { left, top, width, height } = target.getBoundingClientRect();
      if (width === 0) return false;
      const [x, y] = [left + width / 2, top + height / 2];
      return ![[-21, 0], [21, 0], [0, -21], [0, 21]].every(([toX, toY]) =>
        isHit(it, x + toX, y + toY)
      );
    });
    return tooSmall.map((it) => it.getAttribute("aria-label") ?? it.innerText);
  })()`);

testInBrowser("a finger has 44 pixels for each control", async ({ service, open }) => {
  for (let id = 1; id <= 12; id++) {
    await service.add({ name: `Pet ${id}`, categoryId: 7, status: "sold" });
  }
  for (const width of [390, 1280]) {
    const page = await open(`/window#key=${service.token}`, { width, hasTouch: true });
    await row(page, "Pet 12").waitFor();
    assert(await page.evaluate("matchMedia('(pointer: coarse)').matches"));
    await expectSoon(() => tooSmall(page), [], `list at ${width}`);
    if (width === 390) {
      await press(page, "Filters and more");
      await button(page, "Export").waitFor();
      await expectSoon(() => tooSmall(page), [], "menu of the list");
      await page.keyboard.press("Escape");
      // The first animal comes early, and a screen has many.
      const first = await row(page, "Pet 12").boundingBox();
      assertLessOrEqual(first.y, 150);
      // The name, and two short fields in a line. The note is only there on wide screens.
      const lines = Math.ceil((FIELDS_BESIDE_NAME.length - 2) / 2);
      assertLessOrEqual(first.height, 36 + 20 * lines);
    }
    await page.getByRole("checkbox", { name: "Select Pet 12", exact: true }).click();
    await page.getByRole("group", { name: "Selected animals" }).waitFor();
    await expectSoon(() => tooSmall(page), [], `selection at ${width}`);
    await expectAccessible(page, `touch at ${width}`);
    await press(page, "Clear");
    await press(page, "Add an animal");
    await expectSoon(() => tooSmall(page), [], `dialog at ${width}`);
    await press(page, "Cancel");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    // On a phone, the row is the link, also beside its text.
    const { width: ofRow, height } = await row(page, "Pet 11").boundingBox();
    const target = width === 390 ? row(page, "Pet 11") : linkOf(page, "Pet 11");
    await target.click(width === 390 ? { position: { x: ofRow / 2, y: height - 10 } } : {});
    await page.getByRole("heading", { name: "Pet 11" }).waitFor();
    await expectSoon(() => tooSmall(page), [], `page of an animal at ${width}`);
  }
});

testInBrowser(
  "the size of the text is the reader's",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    for (const width of [390, 768, 1280]) {
      const page = await open(`/window#key=${service.token}`, { width });
      await row(page, "Rex").waitFor();
      const height = async () => (await row(page, "Rex").boundingBox()).height;
      const before = await height();
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
      await page.reload();
      await row(page, "Rex").waitFor();
      await until(async () => await height() > 1.5 * before);
      await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
    }
  },
);
