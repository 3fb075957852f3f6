/** The removed animals: their list, and how they come back. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  focusOn,
  press,
  row,
  tab,
  toast,
} from "../support/window_controls.ts";

const names = (page: Page): Promise<string[]> =>
  page.getByRole("list", { name: "Removed animals" }).getByRole("link").allInnerTexts();

const item = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("link", { name, exact: true }) });

testInBrowser(
  "the tab of removed animals says when and by whom each was removed, and restores one and several",
  async ({ service, address, open }) => {
    const animals = ["Rex", "Mia", "Zoe", "Max"];
    for (const name of animals) await service.add({ name, categoryId: 7, status: "sold" });
    const { token } = await issueApiKey(service, { label: "other" });
    await service.remove(1);
    await service.remove(2, { authorization: `Bearer ${token}` });
    await service.remove(3);
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "Removed 3").click();
    await expectSoon(() => page.url(), `${address}/window?page=removed`);
    await expectSoon(() => names(page), ["Zoe", "Mia", "Rex"]);
    await page.getByRole("checkbox", { name: "Select 3 animals", exact: true }).waitFor();
    await item(page, "Zoe").getByText("by you").waitFor();
    await item(page, "Mia").getByText("by other").waitFor();
    await expectAccessible(page, "removed animals");
    await press(page, "Restore Mia");
    await toast(page, "Mia was restored").waitFor();
    await expectSoon(() => names(page), ["Zoe", "Rex"]);
    await tab(page, "Removed 2").waitFor();
    // Another removal comes by the stream.
    await service.remove(4);
    await expectSoon(() => names(page), ["Max", "Zoe", "Rex"]);
    for (const name of ["Max", "Rex"]) await page.getByLabel(`Select ${name}`).click();
    await press(page, "Restore 2 selected");
    await toast(page, "2 animals were restored").waitFor();
    await expectSoon(() => names(page), ["Zoe"]);
    await page.getByRole("checkbox", { name: "Select 1 animal", exact: true }).waitFor();
    await tab(page, "All 3").click();
    for (const name of ["Rex", "Mia", "Max"]) await row(page, name).waitFor();
    assertEquals(await service.listIds(), [4, 2, 1]);
  },
);

testInBrowser(
  "removed animals are found and restored by the keyboard on a narrow screen",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.remove(1);
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    // All animals are removed, so only the tab leads to them.
    await focusOn(tab(page, "All 0"));
    await page.keyboard.press("ArrowLeft");
    for (let count = 0; count < 5; count++) await page.keyboard.press("ArrowRight");
    await expectFocus(tab(page, "Removed 1"));
    await item(page, "Rex").getByText("by you").waitFor();
    const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assertEquals(await page.evaluate(isWide), false);
    await expectAccessible(page, "removed animals on a narrow screen");
    for (let count = 0; count < 4; count++) await page.keyboard.press("Tab");
    await expectFocus(button(page, "Restore Rex"));
    await page.keyboard.press("Enter");
    await page.getByText("No animals are removed.").waitFor();
    await expectFocus(tab(page, "Removed 0"));
    assertEquals(await service.listIds(), [1]);
  },
);

testInBrowser(
  "the page of a removed animal has its history, and restores it",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.remove(1);
    const page = await open(`/window?page=removed#key=${service.token}`);
    await item(page, "Rex").getByRole("link").click();
    await page.getByText("This animal was removed.").waitFor();
    const sentences = page.locator(".history b");
    await expectSoon(() => sentences.allInnerTexts(), ["Removed", "Added"]);
    await expectAccessible(page, "page of a removed animal");
    await press(page, "Restore");
    await toast(page, "Rex was restored").waitFor();
    await button(page, "Edit").waitFor();
    await expectSoon(() => sentences.allInnerTexts(), ["Restored", "Removed", "Added"]);
    assertEquals(await service.listIds(), [1]);
  },
);

testInBrowser(
  "an animal that somebody else has restored, or whose name was erased, is said not to be restored",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "(removed)"]) await service.add({ name, categoryId: 7 });
    for (const id of [1, 2]) await service.remove(id);
    const page = await open(`/window?page=removed#key=${service.token}`);
    await item(page, "Rex").waitFor();
    network.fetch = async (request) => {
      if (request.url.endsWith("/v1/pets/batch")) await service.restore(1);
      return await service.fetch(request);
    };
    await press(page, "Restore Rex");
    await page.getByText("Somebody else has restored it meanwhile").waitFor();
    await press(page, "Restore (removed)");
    await page.getByText("The operator has erased personal data of the animal").waitFor();
    await expectSoon(() => names(page), ["(removed)"]);
  },
);

testInBrowser(
  "a key that may only read sees the removed animals, and restores none",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.remove(1);
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const page = await open(`/window?page=removed#key=${token}`);
    await item(page, "Rex").waitFor();
    assertEquals(await page.getByRole("button", { name: /Restore/ }).count(), 0);
    // It gets no labels of keys, and their ids say nothing to people.
    await item(page, "Rex").getByRole("link").click();
    await page.locator(".history li").first().waitFor();
    await page.getByText("Last change").waitFor();
    assertEquals(await page.getByText(/, by/).count(), 0);
  },
);
