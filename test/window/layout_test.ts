/** How the window looks: what a reader sees first, on which width, and with which size of text. */

import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  fill,
  happened,
  linkOf,
  pickFrom,
  pickStatus,
  press,
  row,
  ROWS,
  statusOf,
  tab,
  toast,
} from "../support/window_controls.ts";

const style = (target: Page, property: string) =>
  target.evaluate(
    (it: Page, name: string) => it.ownerDocument.defaultView.getComputedStyle(it)[name],
    property,
  );

const box = (target: Page) => target.boundingBox();

testInBrowser(
  "a phone shows the list first, and the activity folded",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    await row(page, "Rex").waitFor();
    const fold = button(page, /^Activity/);
    await expectSoon(() => fold.getAttribute("aria-expanded"), "false");
    await until(async () => (await box(row(page, "Rex"))).y < (await box(fold)).y);
    assertEquals(await happened(page, "Rex was added").isVisible(), false);
    await fold.click();
    await happened(page, "Rex was added").waitFor();
  },
);

testInBrowser("the size of the text is the reader's, also at 200 %", async ({ service, open }) => {
  await service.add({ name: "Rex", categoryId: 7, status: "sold" });
  for (const width of [390, 768, 1280]) {
    const page = await open(`/window#key=${service.token}`, { width });
    await row(page, "Rex").waitFor();
    await expectSoon(
      () => style(page.getByRole("heading", { name: "Animal Store" }), "fontSize"),
      width === 390 ? "17.6px" : "20px",
    );
    await expectSoon(() => style(row(page, "Rex"), "fontSize"), "14.4px");
    const session = await page.context().newCDPSession(page);
    await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
    await page.reload();
    await row(page, "Rex").waitFor();
    // A large text on a phone has three lines for an animal, and otherwise two.
    const height = width === 390 ? 208 : 144;
    await expectSoon(async () => (await box(row(page, "Rex"))).height, height);
    await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
  }
});

/**
 * Controls that overlap on the screen, or are outside of it. A bar that floats may be over others, and a link in a sentence
 * is no control.
 */
const faultsOfPlaces = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const FLOATING = ".floating, aside";
    const FIXED = "[role=tablist], .filters, .tools, .head";
    const nameOf = (it) => it.getAttribute("aria-label") ?? it.innerText;
    const seen = [...document.querySelectorAll("a:not(.of-animal), button, input:not([type=search])")]
      .filter((it) => it.checkVisibility({ opacityProperty: true }))
      .map((it) => {
        const clipped = { it, layer: it.closest(FLOATING), isFixed: it.closest(FIXED) !== null };
        let { left, right, top, bottom } = it.getBoundingClientRect();
        // A line that scrolls shows a part of its controls.
        const line = it.closest(".line, [role=tablist]")?.getBoundingClientRect();
        if (line !== undefined) {
          left = Math.max(left, line.left);
          right = Math.min(right, line.right);
        }
        return { ...clipped, left, right, top, bottom };
      })
      .filter(({ left, right, top, bottom }) => right > left && bottom > 0 && top < innerHeight);
    const outside = seen.filter(({ left, right }) => left < 0 || right > innerWidth);
    const faults = outside.map(({ it }) => nameOf(it) + " is outside");
    const isOver = (a, b) =>
      a.layer === b.layer && (a.isFixed === b.isFixed || scrollY === 0) &&
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    for (const [place, one] of seen.entries()) {
      for (const other of seen.slice(place + 1)) {
        if (isOver(one, other)) faults.push(nameOf(one.it) + " is over " + nameOf(other.it));
      }
    }
    return faults;
  })()`);

const LONG_NAME = "Maximiliana Theodora von Hohenlohe-Schillingsfuerst the Third";

testInBrowser(
  "nothing is wider than the screen, and no two controls overlap, with a selection and a message",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Rabbits and hares");
    for (const name of ["Mia", "Rex", LONG_NAME]) {
      await service.add({ name, categoryId: 7, status: "available" });
    }
    const widths = [[320], [375], [640], [700], [1160], [1280], [390, 32], [1280, 32]];
    for (const [width, fontSize = 16] of widths) {
      const page = await open(`/window#key=${service.token}`, { width });
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: fontSize } });
      await page.reload();
      const check = async (state: string) => {
        const where = `${state} at ${width} with ${fontSize} pixels`;
        await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width, where);
        await expectSoon(() => faultsOfPlaces(page), [], where);
      };
      await row(page, LONG_NAME).waitFor();
      await tab(page, "Sold 0").waitFor();
      await check("list");
      // An animal without its name, its category or its id is none.
      for (const part of [linkOf(page, "Rex"), row(page, "Rex").getByText("Rabbits")]) {
        assertGreater((await box(part)).width, 60);
      }
      await page.getByRole("checkbox", { name: "Select Rex" }).click();
      const selection = page.getByRole("group", { name: "Selected animals" });
      await selection.waitFor();
      await check("selection");
      // The animals are seen beside it.
      assertLess((await box(selection)).height, 844 * .4);
      await pickFrom(selection, "Mark as", "Sold");
      await toast(page, /1 animal .* sold/).waitFor();
      await check("message");
      // The message is above the bar, and as wide.
      const ofBar = await box(selection);
      const above = await box(page.locator(".toast"));
      assertEquals([above.x, above.width], [ofBar.x, ofBar.width]);
      assertLess(above.y + above.height, ofBar.y);
      await press(page, "Undo");
      await toast(page, "Rex is as before").waitFor();
      await selection.waitFor();
      await press(selection, "Clear");
      await selection.waitFor({ state: "hidden" });
      await pickStatus(page, LONG_NAME, "Sold");
      const message = toast(page, "was sold").filter({ has: button(page, "Undo") });
      await message.waitFor();
      await check("message with a long name");
      const ofUndo = await box(button(message, "Undo"));
      const ofMessage = await box(message);
      assertLess(ofUndo.x + ofUndo.width, ofMessage.x + ofMessage.width);
      assertLess(ofMessage.height, 7.5 * fontSize);
      await press(message, "Undo");
      await toast(page, "is as before").waitFor();
      await tab(page, "Sold 0").waitFor();
      await page.context().close();
    }
  },
);

testInBrowser("on a low screen, nothing stays above the list", async ({ service, open }) => {
  for (let id = 1; id <= 30; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 30").waitFor();
  const tabs = page.getByRole("tablist");
  for (const [height, isStaying] of [[844, true], [390, false]] as const) {
    await page.setViewportSize({ width: 844, height });
    await page.evaluate("scrollTo(0, 600)");
    await expectSoon(async () => (await box(tabs)).y >= 0, isStaying);
  }
});

testInBrowser(
  "the pill has the new status at once",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.method === "PATCH") await gate.promise;
      return await service.fetch(request);
    };
    await pickStatus(page, "Rex", "Sold");
    const pill = statusOf(page, "Rex").filter({ hasText: "Sold" });
    await pill.waitFor();
    await expectSoon(() => pill.getAttribute("aria-busy"), "true");
    gate.resolve();
    await toast(page, "Rex was sold").waitFor();
    await expectSoon(() => pill.getAttribute("aria-busy"), "false");
  },
);

testInBrowser(
  "events have relative times and dots, and runs of them are one line",
  async ({ service, open }) => {
    for (let id = 1; id <= 20; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    await service.remove(3);
    for (const id of [4, 5, 6]) await service.change(id, { status: "sold" });
    await service.change(7, { name: "Rex ".repeat(100) });
    const page = await open(`/window#key=${service.token}`);
    const lines = page.locator("ol.events li");
    await happened(page, "20 animals were added").waitFor();
    await expectSoon(async () => {
      const sentences = await lines.locator(".sentence").allTextContents();
      return sentences.slice(1).map((text: string) => text.trim());
    }, ["3 animals were sold", "Pet 3 was removed", "20 animals were added"]);
    await expectSoon(() => lines.locator("time").allTextContents(), Array(4).fill("just now"));
    const colours = new Set<string>();
    for (let line = 0; line < 4; line++) {
      const dot = (it: Page) =>
        it.ownerDocument.defaultView.getComputedStyle(it, "::before").backgroundColor;
      colours.add(await lines.nth(line).evaluate(dot));
    }
    assertEquals(colours.size, 3);
    // A long name is cut at two lines.
    const { height } = await box(lines.first());
    assertLess(height, 3 * 20.4);
  },
);

testInBrowser(
  "an empty store says how to begin, and what was done disappears after 4 seconds",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Import a file");
    await press(page.getByRole("dialog").filter({ hasText: "CSV" }), "Cancel");
    await press(page, "Add your first animal");
    await fill(page.getByRole("dialog"), "Rex", "7");
    const started = performance.now();
    await press(page.getByRole("dialog"), "Save");
    await toast(page, "Rex was added").waitFor();
    await toast(page, "Rex was added").waitFor({ state: "hidden" });
    assertGreater(performance.now() - started, 3_900);
    await expectSoon(() => page.locator(ROWS).count(), 1);
  },
);
