/** The page of an animal: what is done there, its history, and its neighbours in the list. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  fill,
  linkOf,
  pickStatus,
  press,
  row,
  toast,
} from "../support/window_controls.ts";

const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

testInBrowser(
  "the page of an animal edits, sells and removes it, and leads to its category",
  async ({ service, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window?animal=1#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await press(page, "Edit");
    await dialog.getByLabel("Name").fill("");
    await press(dialog, "Save");
    await dialog.getByText("Name is missing").waitFor();
    await expectAccessible(page, "edit on the page");
    await fill(dialog, "Max", "9");
    await press(dialog, "Save");
    await toast(page, "Rex was renamed Max and moved to category 9").waitFor();
    await expectFocus(button(page, "Edit"));
    await heading(page, "Max").waitFor();
    const facts = page.getByRole("article").locator("dl").first();
    await facts.getByRole("link", { name: "Category 9" }).click();
    await row(page, "Max").waitFor();
    await page.getByText("1 animal", { exact: true }).waitFor();
    await expectSoon(() => page.url(), `${address}/window?categoryId=9`);
    await page.goBack();
    await heading(page, "Max").waitFor();
    await pickStatus(page, "Max", "Sold");
    await toast(page, "Max was sold").waitFor();
    await press(page, "Remove");
    // The button is gone.
    await expectFocus(heading(page, "Max"));
    await page.getByText("This animal was removed.").waitFor();
    await button(page, "Edit").waitFor({ state: "hidden" });
    await press(toast(page, "Max was removed"), "Undo");
    await toast(page, "Undone: Max is back").waitFor();
    await button(page, "Edit").waitFor();
    await expectSoon(() => page.url(), `${address}/window?animal=1`);
    await page.goto(`${address}/window?animal=2`);
    await page.getByText("There is no such animal").waitFor();
  },
);

testInBrowser(
  "the last events say who caused them, and a key that may only read does not see who it was",
  async ({ service, open }) => {
    const { token } = await issueApiKey(service, { label: "Front desk" });
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window?page=activity#key=${service.token}`);
    const newest = page.getByRole("article").getByRole("listitem").first();
    await newest.filter({ hasText: "Rex was added" }).filter({ hasText: ", by you" }).waitFor();
    const authorization = `Bearer ${token}`;
    await service.change(1, { status: "sold" }, { authorization });
    await newest.filter({ hasText: "Rex was sold" }).getByText(/, by Front desk$/).waitFor();
    const { token: readOnly } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const other = await open(`/window?page=activity#key=${readOnly}`);
    const same = other.getByRole("article").getByRole("listitem").first();
    await same.filter({ hasText: "Rex was sold" }).waitFor();
    assertEquals(await same.getByText(", by").count(), 0);
  },
);

testInBrowser(
  "the whole history says who changed what, you or another key, and follows the store",
  async ({ service, network, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    for (let count = 1; count <= 105; count++) await service.change(1, { categoryId: count });
    const { token } = await issueApiKey(service, { label: "Front desk" });
    await service.change(1, { name: "Max", status: "pending" }, {
      authorization: `Bearer ${token}`,
    });
    const page = await open(`/window?status=pending#key=${service.token}`);
    await linkOf(page, "Max").click();
    await expectSoon(() => page.url(), `${address}/window?status=pending&animal=1`);
    const changes = page.locator(".history li");
    const newest = changes.first();
    for (const [label, was, is] of [["Name", "Rex", "Max"], ["Status", "Available", "Pending"]]) {
      const difference = newest.locator("dl div").filter({ hasText: label });
      await expectSoon(() => difference.locator("del").textContent(), was);
      await expectSoon(() => difference.locator("ins").textContent(), is);
    }
    await newest.getByText(/, by Front desk$/).waitFor();
    await changes.nth(1).getByText(/, by you$/).waitFor();
    await expectAccessible(page, "page of an animal");
    await expectSoon(() => changes.count(), 100);
    await press(page, "Show older changes");
    await expectSoon(() => changes.count(), 107);
    await changes.last().filter({ hasText: "Added" }).waitFor();
    const facts = page.getByRole("article").locator("dl").first();
    await facts.getByText(/by you/).waitFor();
    await facts.getByText(/by Front desk/).waitFor();
    await button(page, "Show older changes").waitFor({ state: "hidden" });
    await pickStatus(page, "Max", "Sold");
    await newest.filter({ hasText: "Sold" }).filter({ hasText: "by you" }).waitFor();
    await page.goBack();
    await press(page, "Clear");
    await row(page, "Max").waitFor();
    // The animal is removed while its history loads.
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("/v1/pets/1/events")) await gate.promise;
      return await service.fetch(request);
    };
    await linkOf(page, "Max").click();
    await heading(page, "Max").waitFor();
    await service.remove(1);
    await page.getByText("This animal was removed.").waitFor();
    gate.resolve();
    await page.locator(".note").filter({ hasText: "Loading …" }).waitFor({ state: "hidden" });
    await page.getByText("This animal was removed.").waitFor();
    await expectAccessible(page, "page of a removed animal");
    await press(page, "Restore");
    await toast(page, "Max was restored").waitFor();
  },
);

testInBrowser(
  "an animal is a card on paper, dated and without its history",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Rabbits and hares");
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const page = await open(`/window?animal=1#key=${service.token}`);
    const card = page.getByRole("article");
    await card.getByText("just now, by you").waitFor();
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const printed =
      /^Rex\nSold\nId\n1\nCategory\nRabbits and hares\nAdded\n.*20\d\d, \d+:\d\d.*\nPrinted on \d+ \w+ 20\d\d$/;
    const lines = async () => (await card.innerText()).replaceAll(/\n+/g, "\n");
    await expectSoon(async () => printed.test(await lines()), true);
    const border = () =>
      card.evaluate((it: Page) => (globalThis as Page).getComputedStyle(it).borderStyle);
    await expectSoon(border, "solid");
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await page.emulateMedia({ media: "screen" });
    await heading(page, "History").waitFor();
    await button(page, "Edit").waitFor();
  },
);

testInBrowser(
  "previous and next follow the list, and one step back is the list as it was",
  async ({ service, address, open }) => {
    for (let id = 1; id <= 103; id++) {
      const status = id === 50 ? "sold" : "pending";
      await service.add({ name: `Pet ${id}`, categoryId: 7, status });
    }
    const page = await open(`/window?status=pending#key=${service.token}`);
    const link = (name: string) => page.getByRole("link", { name, exact: true });
    await row(page, "Pet 103").waitFor();
    await page.evaluate("scrollTo(0, 1500)");
    await linkOf(page, "Pet 60").click();
    await heading(page, "Pet 60").waitFor();
    await expectFocus(heading(page, "Pet 60"));
    await service.add({ name: "Rex", categoryId: 7, status: "pending" });
    await link("All animals").click();
    await expectFocus(linkOf(page, "Pet 60"));
    await expectSoon(() => page.evaluate("scrollY"), 1500);
    await linkOf(page, "Pet 60").click();
    await link("Previous: Pet 61").click();
    await heading(page, "Pet 61").waitFor();
    await page.goBack();
    await row(page, "Pet 60").waitFor();
    await page.goto(`${address}/window?status=pending&animal=51`);
    await link("Next: Pet 49").click();
    await heading(page, "Pet 49").waitFor();
    // The next page of the list is loaded when it is needed.
    await page.goto(`${address}/window?status=pending&animal=5`);
    for (let id = 4; id >= 1; id--) await link(`Next: Pet ${id}`).click();
    await link("Previous: Pet 2").waitFor();
    await expectSoon(() => link("Next").getAttribute("aria-disabled"), "true");
  },
);

testInBrowser(
  "a step back while the page opens shows the list that replaces the first one",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await page.getByRole("tab", { name: "No status 1" }).click();
    // The rows of the former list are shown until then.
    await page.locator("#animals[aria-busy=false]").waitFor();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gates = [first, second];
    network.fetch = async (request) => {
      if (request.url.includes("/v1/pets?limit=100")) await gates.shift()?.promise;
      return await service.fetch(request);
    };
    await page.reload();
    await expectSoon(() => gates.length, 1);
    await page.goBack();
    await expectSoon(() => gates.length, 0);
    const older = page.waitForEvent("requestfinished");
    first.resolve();
    await older;
    second.resolve();
    await row(page, "Rex").waitFor();
    await service.add({ name: "Max", categoryId: 7 });
    await row(page, "Max").waitFor();
  },
);
