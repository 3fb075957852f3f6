/** The list stays where the reader is: rows under the pointer, old rows during a search, and what paper gets. */

import { assertEquals, assertGreater } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectFocus,
  hasFocus,
  linkOf,
  press,
  row,
  ROWS,
  statusOf,
  tab,
} from "../support/window_controls.ts";

testInBrowser("a key that may only read says so on every width", async ({ service, open }) => {
  await service.add({ name: "Rex", categoryId: 7, status: "sold" });
  const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
  for (const width of [320, 390, 1280]) {
    const page = await open(`/window#key=${token}`, { width });
    await row(page, "Rex").waitFor();
    const mark = page.getByText("Read only", { exact: true });
    await mark.waitFor();
    await until(async () => {
      const { x, width: ofMark } = await mark.boundingBox();
      return x >= 0 && x + ofMark <= width;
    });
    await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
    await linkOf(page, "Rex").click();
    await page.getByRole("heading", { name: "Rex" }).waitFor();
    await expectSoon(() => mark.isVisible(), true);
  }
});

testInBrowser(
  "an activity that loads does not say that nothing has happened",
  async ({ service, network, open }) => {
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("since=")) await gate.promise;
      return await service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`);
    const activity = page.getByRole("region", { name: "Activity" });
    await activity.getByText("Loading …").waitFor();
    assertEquals(await activity.getByText(/Nothing has happened/).count(), 0);
    gate.resolve();
    await activity.getByText("Nothing has happened today.").waitFor();
  },
);

testInBrowser(
  "a search keeps the old rows, dimmed, until the new ones come",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("name=")) await gate.promise;
      return await service.fetch(request);
    };
    const opacity = () =>
      page.getByRole("grid").evaluate((it: Page) =>
        Number(it.ownerDocument.defaultView.getComputedStyle(it).opacity)
      );
    await page.getByLabel("Search by name").fill("re");
    await page.getByText("Searching …").waitFor();
    await expectSoon(() => page.locator(ROWS).count(), 2);
    await until(async () => await opacity() < 1);
    gate.resolve();
    await row(page, "Mia").waitFor({ state: "hidden" });
    await expectSoon(opacity, 1);
    await expectSoon(() => page.locator(ROWS).count(), 1);
  },
);

testInBrowser("no row moves under the pointer", async ({ service, open }) => {
  for (const name of ["Rex", "Mia", "Zoe"]) {
    await service.add({ name, categoryId: 7, status: "available" });
  }
  const page = await open(`/window#key=${service.token}`);
  const place = async (name: string) => (await row(page, name).boundingBox()).y;
  await row(page, "Mia").hover();
  const before = await place("Mia");
  await service.add({ name: "Max", categoryId: 7 });
  await page.getByText("1 new animal").waitFor();
  await service.add({ name: "Bella", categoryId: 7 });
  await page.getByText("2 new animals").waitFor();
  await service.remove(3);
  await row(page, "Zoe").getByText("was removed by somebody else").waitFor();
  await expectSoon(() => place("Mia"), before);
  assertEquals(await row(page, "Max").count(), 0);
  await press(page, "Show");
  await row(page, "Max").waitFor();
  await row(page, "Bella").waitFor();
  await page.getByText("2 new animals").waitFor({ state: "hidden" });
  // The pointer has left the rows, so that of the removed animal is gone.
  await row(page, "Zoe").waitFor({ state: "hidden" });
  // An animal that leaves the list by a change stays under the pointer, too.
  await tab(page, "Available 2").click();
  await row(page, "Max").waitFor({ state: "hidden" });
  await row(page, "Rex").hover();
  await statusOf(page, "Rex").focus();
  for (const key of ["Enter", "End", "Enter"]) await page.keyboard.press(key);
  await row(page, "Rex").getByText("left this list").waitFor();
  await page.mouse.move(0, 0);
  await row(page, "Rex").waitFor({ state: "hidden" });
});

testInBrowser(
  "forced colours show the selected tab and the dots",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`, { forcedColors: "active" });
    await row(page, "Rex").waitFor();
    const styleOf = (target: Page, property: string, pseudo?: string) =>
      target.evaluate(
        (it: Page, [name, part]: [string, string | undefined]) =>
          it.ownerDocument.defaultView.getComputedStyle(it, part)[name],
        [property, pseudo],
      );
    await expectSoon(() => styleOf(tab(page, "All 1"), "outlineStyle"), "solid");
    await expectSoon(() => styleOf(tab(page, "Sold 1"), "outlineStyle"), "none");
    const dots = page.locator(".legend .dot");
    const colours = new Set<string>();
    for (let dot = 0; dot < 3; dot++) {
      colours.add(await styleOf(dots.nth(dot), "backgroundColor", "::before"));
    }
    assertEquals(colours.size, 3);
  },
);

testInBrowser("paper gets all loaded rows, and no controls", async ({ service, open }) => {
  for (let id = 1; id <= 90; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 90").waitFor();
  assertGreater(90, await page.locator(ROWS).count());
  await page.emulateMedia({ media: "print" });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await row(page, "Pet 1").waitFor();
  await expectSoon(() => page.locator(ROWS).count(), 90);
  for (const name of ["Pet 90", "Pet 1"]) {
    await expectSoon(async () => (await row(page, name).boundingBox()).height, 44);
  }
  await button(page, "Add an animal").waitFor({ state: "hidden" });
  await page.getByRole("complementary").waitFor({ state: "hidden" });
  const { length } = await page.pdf();
  assertGreater(length, 10_000);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await page.emulateMedia({ media: "screen" });
  await until(async () => await page.locator(ROWS).count() < 90);
});

testInBrowser("a list of 200 animals is one stop of the Tab key", async ({ service, open }) => {
  for (let id = 1; id <= 200; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 200").waitFor();
  const first = linkOf(page, "Pet 200");
  await first.focus();
  await page.keyboard.press("Tab");
  await expectSoon(() => page.evaluate("document.activeElement.closest('[data-id]')"), null);
  await page.keyboard.press("Shift+Tab");
  await expectFocus(first);
  await page.keyboard.press("PageDown");
  await until(async () => !await hasFocus(first));
  // The end of what is loaded moves.
  const last = linkOf(page, "Pet 1");
  await until(async () => {
    await page.keyboard.press("End");
    return await last.count() === 1 && await hasFocus(last);
  });
});
