/** How people find an animal: by a search, the tabs, categories and the order of the list, and how they reach it by keys. */

import { assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectFocus,
  focusOn,
  hasFocus,
  linkOf,
  press,
  row,
  ROWS,
  scrollTo,
  statusOf,
  tab,
} from "../support/window_controls.ts";

const namesOf = (page: Page): Promise<string[]> => page.locator(`${ROWS} .name`).allInnerTexts();

/** Whether a part of the text is not shown. It runs in the page. */
const isCut = (it: Page) => it.scrollWidth > it.clientWidth;

testInBrowser(
  "a search finds parts of names, continues while pages are empty, and follows the store",
  async ({ service, address, network, open }) => {
    for (const name of ["Rex", "STRASSE", "T-rex", "Mia"]) {
      await service.add({ name, categoryId: 7 });
    }
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Mia").waitFor();
    const gate = Promise.withResolvers<void>();
    let searches = 0;
    network.fetch = async (request) => {
      // If the machine is busy, a pause in the typing is long enough for other searches.
      const isFirst = request.url.endsWith("pets?limit=100&q=rEx") && searches++ === 0;
      if (!isFirst) return await service.fetch(request);
      await gate.promise;
      const link = `<https://shop.example/v1/pets?limit=100&q=rex>; rel="next"`;
      return Response.json([], { headers: { link, "x-feed-position": "0" } });
    };
    const search = page.getByRole("searchbox", { name: "Search by name, note or id" });
    await search.pressSequentially("rEx");
    await page.getByText("Searching …").waitFor();
    assertEquals(await page.getByText(/^No animals/).count(), 0);
    // Typed text stays while events come.
    await service.add({ name: "Zoe", categoryId: 7 });
    await row(page, "Zoe").waitFor();
    await expectSoon(() => search.inputValue(), "rEx");
    gate.resolve();
    await expectSoon(() => namesOf(page), ["T-rex", "Rex"]);
    await expectSoon(() => page.url(), `${address}/window?q=rEx`);
    await service.change(5, { name: "Rexona" });
    await row(page, "Rexona").waitFor();
    await service.change(1, { name: "Max" });
    await row(page, "Rex").waitFor({ state: "hidden" });
    await search.fill("straße");
    await row(page, "STRASSE").waitFor();
    await press(page, "Clear the search");
    await row(page, "Mia").waitFor();
    await expectFocus(search);
    await button(page, "Clear the search").waitFor({ state: "hidden" });
    await search.fill("nobody");
    await page.getByText("No animals with “nobody”.").waitFor();
    // One sentence says so, and one button ends the search.
    await expectSoon(() => page.getByText(/with “nobody”/).filter({ visible: true }).count(), 1);
    await press(page, "Add an animal “nobody”");
    const dialog = page.getByRole("dialog");
    await expectSoon(() => dialog.getByLabel("Name").inputValue(), "nobody");
    await press(dialog, "Cancel");
    await press(page, "Clear");
    await row(page, "Mia").waitFor();
    await expectSoon(() => search.inputValue(), "");
    await expectSoon(() => page.url(), `${address}/window`);
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
      if (/\/v1\/pets\?.*q=/.test(request.url)) searches++;
      return service.fetch(request);
    };
    const page = await open(`/window?q=12#key=${service.token}`);
    const own = "Pet xxxxxxxxxxxx";
    await expectSoon(() => namesOf(page), [own, "Agent 12"]);
    assertEquals(searches, 1);
    await page.getByText("2 animals", { exact: true }).waitFor();
    await page.getByLabel("Search by name, note or id").fill("#12");
    await expectSoon(() => namesOf(page), [own]);
    // The tabs count the animal that its id alone finds.
    await tab(page, "No status 0").click();
    await page.getByText("No animals without a status, with “#12” as the id").waitFor();
    // It follows the store, too.
    await service.change(12, { status: null });
    await row(page, own).waitFor();
    await service.remove(12);
    await row(page, own).waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "what is shown is in the address and told in words, and Clear ends it",
  async ({ service, address, open }) => {
    await service.nameCategory(7n, "Dogs");
    for (let id = 1; id <= 103; id++) {
      await service.add({ name: `Pet ${id}`, categoryId: id < 4 ? 7 : 8, status: "sold" });
    }
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const results = page.locator(".results");
    const words = async () => (await page.locator(".results > span").allInnerTexts()).join(" ");
    await row(page, "Rex").waitFor();
    assertEquals(await results.count(), 0);
    await tab(page, "No status 1").click();
    await row(page, "Pet 103").waitFor({ state: "hidden" });
    await expectSoon(() => page.url(), `${address}/window?status=none`);
    // The list follows who gets a status, and who loses it.
    await service.change(103, { status: null });
    await row(page, "Pet 103").waitFor();
    await service.change(104, { status: "sold" });
    await row(page, "Rex").waitFor({ state: "hidden" });
    await tab(page, "Sold 103").click();
    // The tab has the number of its animals.
    await row(page, "Pet 102").waitFor();
    assertEquals(await results.count(), 0);
    await page.getByLabel("Search by name, note or id").fill("pet");
    await expectSoon(words, "102 animals sold, with “pet”");
    await page.setViewportSize({ width: 360, height: 844 });
    // On a phone, the words after the number get shorter, and not the number.
    await expectSoon(() => results.getByRole("status").evaluate(isCut), false);
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.getByLabel("Search by name, note or id").fill("");
    await page.getByLabel("Filter by category").fill("dogs");
    await expectSoon(words, "4 animals sold in Dogs");
    await page.reload();
    await page.getByLabel("Search by name, note or id").fill("Pet 2");
    await expectSoon(words, "1 animal sold in Dogs, with “Pet 2”");
    await service.add({ name: "Pet 200", categoryId: 7, status: "sold" });
    await until(async () => (await words()).startsWith("2 animals sold"));
    await press(results, "Clear");
    await row(page, "Rex").waitFor();
    await results.waitFor({ state: "hidden" });
    await expectSoon(() => page.getByLabel("Filter by category").inputValue(), "");
    await page.goBack();
    await until(async () => (await words()).startsWith("2 animals sold"));
  },
);

testInBrowser(
  "the tabs have the numbers of the search and the category, also of animals that are not loaded",
  async ({ service, open }) => {
    await service.nameCategory(8n, "Vögel");
    for (let id = 1; id <= 350; id++) {
      const status = id % 10 === 0 ? "sold" : "available";
      await service.add({ name: `Pet ${id}`, categoryId: id <= 200 ? 7 : 8, status });
    }
    const page = await open(`/window?q=pet+1#key=${service.token}`);
    const count = () => page.locator(".results").getByRole("status").innerText();
    await expectSoon(count, "152 animals");
    for (const name of ["All 152", "Available 139", "Sold 13", "No status 0"]) {
      await tab(page, name).waitFor();
    }
    await tab(page, "Sold 13").click();
    await expectSoon(count, "13 animals");
    const search = page.getByLabel("Search by name, note or id");
    await search.fill("vogel");
    await expectSoon(count, "15 animals");
    await tab(page, "All 150").click();
    await expectSoon(count, "150 animals");
    await service.change(350, { status: null });
    await tab(page, "No status 1").waitFor();
    await service.nameCategory(8n, "Fische");
    await page.getByText("No animals with “vogel”.").waitFor();
    await tab(page, "All 0").waitFor();
    await search.fill("fisch pet 3");
    await page.getByLabel("Filter by category").fill("fische");
    await page.keyboard.press("Enter");
    await tab(page, "All 70").waitFor();
    await search.fill("#12");
    await page.getByLabel("Filter by category").fill("");
    // Its id alone finds this one.
    await tab(page, "All 1").waitFor();
    await expectSoon(count, "1 animal");
    await search.fill("");
    await tab(page, "All 350").waitFor();
  },
);

testInBrowser(
  "a search finds words in any order and without accents, in names, notes and categories",
  async ({ service, open }) => {
    await service.nameCategory(8n, "Vögel");
    await service.add({ name: "Smith, Zoë", categoryId: 7 });
    await service.add({ name: "Max", categoryId: 8, note: "mag Zoe\nund Äpfel" });
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const search = page.getByLabel("Search by name, note or id");
    const found: [string, string[]][] = [
      ["zoe smith", ["Smith, Zoë"]],
      ["ZOE", ["Max", "Smith, Zoë"]],
      ["apfel vogel", ["Max"]],
      ["rex", ["Rex"]],
    ];
    for (const [text, names] of found) {
      await search.fill(text);
      await expectSoon(() => namesOf(page), names, text);
    }
    // The list follows notes and categories.
    await service.change(1, { note: "friend of Rex" });
    await row(page, "Smith, Zoë").waitFor();
    await service.nameCategory(8n, "Rex and others");
    await row(page, "Max").waitFor();
  },
);

testInBrowser(
  "a search without results offers similar names and categories, before it offers to add an animal",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Hunde");
    await service.nameCategory(9n, "Katzen");
    for (const name of ["Bello, Zoë's dog", "Bella", "Max"]) {
      await service.add({ name, categoryId: 7, status: "available" });
    }
    const page = await open(`/window?status=available#key=${service.token}`);
    await row(page, "Max").waitFor();
    const search = page.getByLabel("Search by name, note or id");
    await search.fill("Belo");
    const empty = page.locator(".empty");
    await button(empty, "Bello, Zoë's dog").waitFor();
    const texts = (await button(empty, /./).allInnerTexts()).map((it: string) => it.trim());
    assertEquals(texts, ["Bello, Zoë's dog", "Clear", "Add an animal “Belo”"]);
    // With the keyboard alone.
    await focusOn(button(empty, "Bello, Zoë's dog"));
    await page.keyboard.press("Enter");
    await row(page, "Bello, Zoë's dog").waitFor();
    await expectSoon(() => search.inputValue(), "Bello, Zoë's dog");
    await search.fill("Kazten");
    await press(empty, "the category Katzen");
    await page.getByText("No animals in Katzen.").waitFor();
    await expectSoon(() => search.inputValue(), "");
    await press(page.locator(".empty"), "Clear");
    await search.fill("Hnude");
    await press(empty, "the category Hunde");
    await row(page, "Max").waitFor();
    await search.fill("Wolfgang Amadeus");
    await button(empty, "Add an animal “Wolfgang Amadeus”").waitFor();
    await page.getByText("Did you mean").waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "a search moves no row, on a phone and on a wide screen",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    for (const name of ["Rex", "Mia", "T-rex"]) await service.add({ name, categoryId: 7 });
    for (const width of [390, 1280]) {
      const page = await open(`/window#key=${service.token}`, { width });
      const top = async () => (await page.locator(ROWS).first().boundingBox()).y;
      await row(page, "Mia").waitFor();
      const before = await top();
      await page.getByLabel("Search by name, note or id").fill("rex");
      await page.getByText("2 animals", { exact: true }).waitFor();
      await row(page, "Mia").waitFor({ state: "hidden" });
      await expectSoon(top, before);
      await press(page, "Clear the search");
      await row(page, "Mia").waitFor();
      if (width === 390) await press(page, "Filters and more");
      await page.getByLabel("Filter by category").fill("dogs");
      await page.keyboard.press("Enter");
      await page.getByText("3 animals", { exact: true }).waitFor();
      await expectSoon(top, before);
    }
  },
);

testInBrowser(
  "the list is sorted by id both ways, and follows the store in each",
  async ({ service, address, open }) => {
    for (let id = 1; id <= 130; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    // A phone has no columns.
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    await row(page, "Pet 130").waitFor();
    await press(page, "Filters and more");
    await press(page, "Show the oldest first");
    await expectSoon(() => page.locator(`${ROWS} .name`).first().innerText(), "Pet 1");
    await press(page, "Filters and more");
    await button(page, "Show the newest first").waitFor();
    await page.keyboard.press("Escape");
    await button(page, "Show the newest first").waitFor({ state: "hidden" });
    await expectSoon(() => page.url(), `${address}/window?order=asc`);
    await page.reload();
    await row(page, "Pet 2").waitFor();
    await scrollTo(page, row(page, "Pet 130"), 400);
    // A new animal comes at the end, as soon as the end is loaded.
    await page.mouse.move(0, 0);
    await service.add({ name: "Pet 131", categoryId: 7 });
    await tab(page, "All 131").waitFor();
    await scrollTo(page, row(page, "Pet 131"), 400);
    await page.setViewportSize({ width: 1280, height: 844 });
    const header = page.getByRole("columnheader", { name: "Id" });
    await expectSoon(() => header.getAttribute("aria-sort"), "ascending");
    await header.getByRole("button").click();
    await expectSoon(() => page.locator(`${ROWS} .name`).first().innerText(), "Pet 131");
    await expectSoon(() => header.getAttribute("aria-sort"), "descending");
    await expectSoon(() => page.url(), `${address}/window`);
  },
);

testInBrowser(
  "controls name their animal, and a long list is one tab stop with arrows inside",
  async ({ service, open }) => {
    for (let id = 1; id <= 120; id++) {
      await service.add({ name: `Pet ${id}`, categoryId: 7, status: "sold" });
    }
    const page = await open(`/window#key=${service.token}`);
    const link = (id: number) => linkOf(page, `Pet ${id}`);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await row(page, "Pet 120").waitFor();
    await press("Tab");
    const skip = page.getByRole("link", { name: "Skip to the animals" });
    await expectFocus(skip);
    await until(async () => (await skip.boundingBox()).y >= 0);
    await press("Enter");
    await expectFocus(link(120));
    await press("ArrowDown");
    await expectFocus(link(119));
    const controls = [
      statusOf(page, "Pet 119"),
      button(page, "Edit Pet 119"),
      button(page, "Remove Pet 119"),
    ];
    for (const control of controls) {
      await press("ArrowRight");
      await expectFocus(control);
    }
    await press("ArrowRight");
    await expectFocus(button(page, "Remove Pet 119"));
    await press("ArrowDown");
    await expectFocus(button(page, "Remove Pet 118"));
    await press("ArrowLeft", "ArrowLeft", "ArrowLeft");
    await expectFocus(link(118));
    await press("PageDown");
    await until(async () => !await hasFocus(link(118)));
    // The end of what is loaded moves.
    await until(async () => {
      await press("End");
      return await link(1).count() === 1 && await hasFocus(link(1));
    });
    // Tab leaves the list, and comes back to the same row.
    await press("Tab");
    await until(async () => !await hasFocus(link(1)));
    await press("Shift+Tab");
    await expectFocus(link(1));
    await press("Home");
    await expectFocus(link(120));
  },
);

testInBrowser(
  "a tab, a category and a search are steps of the browser's history, and the chosen tab is none",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    await service.add({ name: "Mia", categoryId: 8 });
    const page = await open(`/window#key=${service.token}`);
    const shown = () => page.evaluate("location.search");
    const search = page.getByRole("searchbox", { name: "Search by name, note or id" });
    const category = page.getByLabel("Filter by category");
    await tab(page, "All 2").click();
    await tab(page, "Sold 1").click();
    await tab(page, "Sold 1").click();
    await search.pressSequentially("re");
    await expectSoon(shown, "?status=sold&q=re");
    await search.pressSequentially("x");
    await expectSoon(shown, "?status=sold&q=rex");
    await category.fill("dogs");
    await expectSoon(shown, "?status=sold&categoryId=7&q=rex");
    await search.fill("r");
    await expectSoon(shown, "?status=sold&categoryId=7&q=r");
    for (
      const step of [
        "?status=sold&categoryId=7&q=rex",
        "?status=sold&q=rex",
        "?status=sold",
        "",
      ]
    ) {
      await page.goBack();
      await expectSoon(shown, step);
      const name = new URLSearchParams(step).get("q") ?? "";
      await expectSoon(() => search.inputValue(), name);
    }
    await row(page, "Mia").waitFor();
  },
);
