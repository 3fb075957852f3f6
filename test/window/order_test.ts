/** The order of the list, what its filters find, and the keys that work everywhere. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  linkOf,
  press,
  row,
  ROWS,
  scrollTo,
  tab,
} from "../support/window_controls.ts";

const namesOf = (page: Page): Promise<string[]> => page.locator(`${ROWS} .name`).allInnerTexts();

/** In the head of the ids, or on a page without columns. */
const orderButton = (page: Page) => button(page, /^(Id|Newest first|Oldest first)$/);

testInBrowser(
  "the list is sorted by id both ways, and follows the store in each",
  async ({ service, address, open }) => {
    for (let id = 1; id <= 130; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    for (const width of [1280, 390]) {
      const page = await open(`/window#key=${service.token}`, { width });
      await row(page, "Pet 130").waitFor();
      await expectSoon(() => orderButton(page).getAttribute("title"), "Newest first");
      await orderButton(page).click();
      await row(page, "Pet 1").waitFor();
      await expectSoon(() => orderButton(page).getAttribute("title"), "Oldest first");
      const header = page.getByRole("columnheader", { name: "Id" });
      if (width === 1280) await expectSoon(() => header.getAttribute("aria-sort"), "ascending");
      await expectSoon(() => page.url(), `${address}/window?order=asc`);
      await expectSoon(() => page.locator(`${ROWS} .name`).first().innerText(), "Pet 1");
      await page.reload();
      await row(page, "Pet 2").waitFor();
      await scrollTo(page, row(page, "Pet 130"), 400);
      await page.evaluate("scrollTo(0, 0)");
      await orderButton(page).click();
      await row(page, "Pet 130").waitFor();
      await expectSoon(() => page.url(), `${address}/window`);
    }
    // A new animal comes at the end, as soon as the end is loaded.
    const page = await open(`/window?order=asc&name=Pet%2013#key=${service.token}`);
    await expectSoon(() => namesOf(page), ["Pet 13", "Pet 130"]);
    await service.add({ name: "Pet 131", categoryId: 7 });
    await expectSoon(() => namesOf(page), ["Pet 13", "Pet 130", "Pet 131"]);
  },
);

testInBrowser(
  "the number of results is told with the filters in words, and Clear ends them",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    for (let id = 1; id <= 105; id++) {
      await service.add({ name: `Pet ${id}`, categoryId: id < 4 ? 7 : 8, status: "sold" });
    }
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Pet 105").waitFor();
    const results = page.locator(".results");
    const words = async () => (await results.locator("span").allInnerTexts()).join(" ");
    assertEquals(await results.count(), 0);
    // The tab has the number of its animals.
    await tab(page, "Sold 105").click();
    assertEquals(await results.count(), 0);
    await page.getByLabel("Search by name or id").fill("pet");
    await expectSoon(words, "More than 100 animals sold, with “pet” in the name");
    await page.getByLabel("Search by name or id").fill("");
    await page.getByLabel("Filter by category").fill("dogs");
    await expectSoon(words, "3 animals sold, in category Dogs (7)");
    await page.getByLabel("Search by name or id").fill("Pet 2");
    await expectSoon(words, "1 animal sold, in category Dogs (7), with “Pet 2” in the name");
    await service.add({ name: "Pet 200", categoryId: 7, status: "sold" });
    await until(async () => (await words()).startsWith("2 animals sold"));
    await expectAccessible(page, "results");
    await press(results, "Clear");
    await row(page, "Pet 105").waitFor();
    await results.waitFor({ state: "hidden" });
    await expectSoon(() => page.getByLabel("Filter by category").inputValue(), "");
  },
);

testInBrowser(
  "a search finds an id, and names with its digits, as far as the other filters let it",
  async ({ service, network, open }) => {
    for (let id = 1; id <= 12; id++) {
      await service.add({ name: id === 5 ? "Agent 12" : `Pet ${"x".repeat(id)}`, categoryId: 7 });
    }
    await service.change(12, { status: "sold" });
    let searches = 0;
    network.fetch = (request) => {
      if (/\/v1\/.*name=/.test(request.url)) searches++;
      return service.fetch(request);
    };
    const page = await open(`/window?name=12#key=${service.token}`);
    const own = "Pet xxxxxxxxxxxx";
    await expectSoon(() => namesOf(page), [own, "Agent 12"]);
    assertEquals(searches, 1);
    await page.getByText("2 animals", { exact: true }).waitFor();
    const search = page.getByLabel("Search by name or id");
    await search.fill("#12");
    await expectSoon(() => namesOf(page), [own]);
    await tab(page, "No status 11").click();
    await page.getByText("No such animals.").waitFor();
    // It follows the store, too.
    await service.change(12, { status: null });
    await row(page, own).waitFor();
    await service.remove(12);
    await row(page, own).waitFor({ state: "hidden" });
    const downloading = page.waitForEvent("download");
    await search.fill("3");
    await row(page, "Pet xxx").waitFor();
    await press(page, "Export");
    const stream = await (await downloading).createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    assertEquals(text.split("\r\n").slice(1), ["Pet xxx,7,,3,", ""]);
  },
);

testInBrowser(
  "one animal after the other is added, with the category kept and Available chosen",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const name = dialog.getByLabel("Name");
    await press(page, "Add an animal");
    for (const it of ["Rex", "Rex", "Mia"]) {
      await expectSoon(() => dialog.getByLabel("Status").innerText(), "Available");
      await name.fill(it);
      if (it === "Rex") await dialog.getByLabel("Category").fill("dogs");
      await press(dialog, "Add and next");
      await expectSoon(() => name.inputValue(), "");
      await expectFocus(name);
    }
    await expectSoon(() => dialog.getByLabel("Category").inputValue(), "dogs");
    // Nobody has typed what stays, so it is no loss.
    await press(dialog, "Cancel");
    await dialog.waitFor({ state: "hidden" });
    const stored = await (await service.send("/v1/pets?order=asc")).json();
    assertEquals(stored, [
      { id: 1, name: "Rex", categoryId: 7, status: "available" },
      { id: 2, name: "Rex", categoryId: 7, status: "available" },
      { id: 3, name: "Mia", categoryId: 7, status: "available" },
    ]);
  },
);

testInBrowser(
  "the keys /, n and ? work outside of fields and dialogs",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const search = page.getByLabel("Search by name or id");
    await row(page, "Rex").waitFor();
    await page.keyboard.press("/");
    await expectFocus(search);
    await page.keyboard.type("n?/");
    await expectSoon(() => search.inputValue(), "n?/");
    assertEquals(await dialog.count(), 0);
    await search.fill("");
    await row(page, "Rex").waitFor();
    await linkOf(page, "Rex").focus();
    await page.keyboard.press("?");
    await dialog.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    await expectAccessible(page, "help");
    await page.keyboard.press("n");
    await expectSoon(() => dialog.count(), 1);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("n");
    await dialog.getByRole("heading", { name: "Add an animal" }).waitFor();
    await expectFocus(dialog.getByLabel("Name"));
    await press(dialog, "Cancel");
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const reader = await open(`/window#key=${token}`);
    await row(reader, "Rex").waitFor();
    await reader.getByText("Read only", { exact: true }).waitFor();
    await reader.keyboard.press("n");
    await reader.keyboard.press("?");
    await reader.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    await expectSoon(() => reader.getByRole("dialog").count(), 1);
    assertEquals(await button(reader, "Add an animal").count(), 0);
  },
);
