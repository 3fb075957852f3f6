/** How the window looks: what a reader sees first, on which width, and with which size of text. */

import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  fill,
  happened,
  pickStatus,
  press,
  row,
  ROWS,
  statusOf,
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
      "20px",
    );
    await expectSoon(() => style(row(page, "Rex"), "fontSize"), "14.4px");
    const session = await page.context().newCDPSession(page);
    await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
    await page.reload();
    await row(page, "Rex").waitFor();
    const isNarrow = width < 2 * 600;
    await expectSoon(async () => (await box(row(page, "Rex"))).height, isNarrow ? 144 : 88);
    await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
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
