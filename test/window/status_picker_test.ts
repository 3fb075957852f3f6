/** The choice of a status: a click, Enter and letters write, and nothing else. */

import { assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import { expectFocus, focusOn, press, row, statusOf, toast } from "../support/window_controls.ts";

testInBrowser(
  "a status is chosen by arrows and Enter or by a letter, and nothing else writes one",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) {
      await service.add({ name, categoryId: 7, status: "available" });
    }
    const patches: string[] = [];
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.method === "PATCH") {
        patches.push(await request.clone().text());
        await gate.promise;
      }
      return await service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`);
    const picker = statusOf(page, "Rex");
    const isOpen = () => picker.evaluate((it: Page) => it.matches(":open"));
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await focusOn(picker);
    // In the list of animals, the arrows move the focus.
    await press("ArrowUp");
    await expectFocus(statusOf(page, "Mia"));
    await press("ArrowDown");
    await expectFocus(picker);
    await press("Enter");
    await expectSoon(isOpen, true);
    await press("ArrowDown", "ArrowDown", "Escape");
    await expectSoon(isOpen, false);
    await expectFocus(picker);
    // The same status again is no change.
    await press("Enter", "Enter");
    await expectSoon(isOpen, false);
    await press("Enter", "End", "Enter");
    // The pill has the new status at once.
    await expectSoon(() => picker.inputValue(), "");
    await expectSoon(() => picker.getAttribute("aria-busy"), "true");
    gate.resolve();
    await toast(page, "Rex lost its status").waitFor();
    await expectSoon(() => picker.getAttribute("aria-busy"), "false");
    await expectFocus(picker);
    assertEquals(patches, ['{"status":null}']);
    // The letter is no shortcut here, which would open a form.
    await press("ArrowUp");
    await expectFocus(statusOf(page, "Mia"));
    await press("n");
    await toast(page, "Mia lost its status").waitFor();
    assertEquals(await page.getByRole("dialog").count(), 0);
    assertEquals(patches.length, 2);
  },
);

testInBrowser(
  "a list of statuses at the end of a phone's screen opens where it is seen",
  async ({ service, open }) => {
    for (let count = 0; count < 30; count++) {
      await service.add({ name: `Pet ${count}`, categoryId: 7 });
    }
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    await row(page, "Pet 29").waitFor();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await statusOf(page, "Pet 0").click();
    const option = page.getByRole("option", { name: "Sold" });
    await until(async () => {
      const { x, y, width, height } = await option.boundingBox();
      return x >= 0 && y >= 0 && x + width <= 390 && y + height <= 844;
    });
    await option.click();
    await expectSoon(() => statusOf(page, "Pet 0").inputValue(), "sold");
  },
);

testInBrowser(
  "the open list of a browser that draws it itself keeps its keys, in a row and in a form",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    network.fetch = async (request) => {
      if (!request.url.endsWith(".css")) return await service.fetch(request);
      const plain = new Request(request, { headers: { "accept-encoding": "identity" } });
      const styles = await (await service.fetch(plain)).text();
      const headers = { "content-type": "text/css" };
      return new Response(styles.replaceAll("base-select", "auto"), { headers });
    };
    const page = await open(`/window#key=${service.token}`);
    const picker = statusOf(page, "Rex");
    await focusOn(picker);
    await page.keyboard.press("Enter");
    await expectSoon(() => isOpen(picker), true);
    for (const key of ["ArrowDown", "ArrowRight", "Enter"]) {
      assertEquals([key, await isTaken(picker, key)], [key, false]);
    }
    await expectFocus(picker);
    await page.keyboard.press("Escape");
    await press(page, "Add an animal");
    const form = page.getByRole("dialog");
    const select = form.getByLabel("Status");
    await select.click();
    await expectSoon(() => isOpen(select), true);
    assertEquals(await isTaken(select, "Escape"), false);
    await page.keyboard.press("Escape");
    await expectSoon(() => isOpen(select), false);
    await form.getByRole("heading", { name: "Add an animal" }).waitFor();
    assertEquals(await isTaken(select, "Escape"), true);
    await form.waitFor({ state: "hidden" });
  },
);

/** Sends a key to the element of an open list, as Firefox does, and resolves to whether the page does something with it. */
function isTaken(select: Page, key: string): Promise<boolean> {
  return select.evaluate((it: Page, key: string) => {
    const { KeyboardEvent } = it.ownerDocument.defaultView;
    return !it.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
  }, key);
}

function isOpen(select: Page): Promise<boolean> {
  return select.evaluate((it: Page) => it.matches(":open"));
}
