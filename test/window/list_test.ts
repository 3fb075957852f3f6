/** The list stays where the reader is: rows under the pointer, old rows during a search, and what paper gets. */

import { assertEquals, assertGreater } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  focusOn,
  linkOf,
  row,
  ROWS,
  tab,
} from "../support/window_controls.ts";

testInBrowser(
  "what loads says so, keeps the old rows, in grey, and asks for no key",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    await service.add({ name: "Mia", categoryId: 7 });
    let gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("/v1/")) await gate.promise;
      return await service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`);
    const panel = page.getByRole("tabpanel");
    const check = async () => {
      await expectSoon(() => panel.getAttribute("aria-busy"), "true");
      assertEquals(await page.getByText(/^No animals/).count(), 0);
      assertEquals(await page.getByLabel("Access key").count(), 0);
    };
    await panel.getByText("Loading …").waitFor();
    await check();
    gate.resolve();
    await row(page, "Rex").waitFor();
    await expectSoon(() => panel.getAttribute("aria-busy"), "false");
    await tab(page, "Sold 1").waitFor();
    gate = Promise.withResolvers();
    const colour = () =>
      linkOf(page, "Rex").evaluate((it: Page) =>
        it.ownerDocument.defaultView.getComputedStyle(it).color
      );
    const current = await colour();
    await tab(page, "Sold 1").click();
    await panel.getByText("Loading …").waitFor();
    await until(async () => await colour() !== current);
    assertEquals(await page.locator(ROWS).count(), 2);
    await check();
    gate.resolve();
    await row(page, "Mia").waitFor({ state: "hidden" });
    await expectSoon(colour, current);
    network.fetch = (request) => {
      if (!request.url.includes("/v1/")) return service.fetch(request);
      const error = { status: 503, message: "The store is away" };
      return Promise.resolve(Response.json(error, { status: 503 }));
    };
    await tab(page, "Pending 0").click();
    await panel.getByText("The store is away. Trying again …").waitFor();
    network.fetch = service.fetch;
    await page.getByText("No animals pending.").waitFor();
    await page.getByText("Connected").waitFor();
  },
);

testInBrowser(
  "a list that does not come says that the previous one is still shown, and comes later",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    await service.add({ name: "Mia", categoryId: 7 });
    const failing = (status: number) => (request: Request) => {
      const isList = request.url.includes("/v1/pets?");
      const response = () => Response.json({ status, message: "It fails" }, { status });
      return isList ? Promise.resolve(response()) : service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`, { width: 320 });
    await row(page, "Rex").waitFor();
    await tab(page, "Sold 1").waitFor();
    const words = page.getByRole("status").filter({ hasText: "Still the previous list" });
    network.fetch = failing(503);
    await page.getByLabel("Search by name, note or id").fill("Rex");
    await words.getByText("Yours comes when the service answers").waitFor();
    await expectAccessible(page, "the previous list");
    await row(page, "Mia").waitFor();
    network.fetch = service.fetch;
    await page.getByRole("status").getByText("1 animal", { exact: true }).waitFor();
    await words.waitFor({ state: "hidden" });
    await row(page, "Mia").waitFor({ state: "hidden" });
    network.fetch = failing(503);
    await button(page, "Clear").click();
    await words.waitFor();
    network.fetch = service.fetch;
    await row(page, "Mia").waitFor();
    await words.waitFor({ state: "hidden" });
    // Another request reads the numbers of the tabs, and is not sent again after a 400.
    await tab(page, "Sold 1").waitFor();
    network.fetch = failing(400);
    await tab(page, "Sold 1").click();
    await words.waitFor();
    network.fetch = service.fetch;
    await button(page, "Try again").click();
    await row(page, "Mia").waitFor({ state: "hidden" });
    await words.waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "no row moves under the pointer when others are added or removed above it",
  async ({ service, open }) => {
    for (let id = 1; id <= 40; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const place = async (name: string) => Math.round((await row(page, name).boundingBox()).y);
    await row(page, "Pet 38").hover();
    const before = await place("Pet 38");
    // Nothing is above the list by which it could scroll back.
    for (const id of [40, 39]) await service.remove(id);
    await tab(page, "All 38").waitFor();
    await expectSoon(() => place("Pet 38"), before);
    for (const name of ["Max", "Bella", "Zoe"]) await service.add({ name, categoryId: 7 });
    await tab(page, "All 41").waitFor();
    await expectSoon(() => place("Pet 38"), before);
    await service.remove(41);
    await tab(page, "All 40").waitFor();
    await expectSoon(() => place("Pet 38"), before);
    // Without the pointer, the list begins below its header again.
    await page.mouse.move(640, 30);
    await page.evaluate("scrollTo(0, 0)");
    const head = await page.locator(".head").boundingBox();
    await expectSoon(() => place("Zoe"), Math.round(head.y + head.height));
  },
);

/** What each drawn row says, in the order of the page, and the animal that has the focus. It runs in the page. */
const DRAWN = `({
  rows: [...document.querySelectorAll("[data-id]")].map((row) => ({
    id: Number(row.dataset.id),
    index: Number(row.ariaRowIndex),
    name: row.querySelector(".name").textContent,
    status: row.querySelector("select").selectedOptions[0].text,
    isSelected: row.querySelector("[type=checkbox]").checked,
  })),
  focused: Number(document.activeElement.closest("[data-id]")?.dataset.id),
})`;

testInBrowser(
  "while the list is scrolled, each row says what its animal has, and the focus stays on its animal",
  async ({ service, open }) => {
    const statuses = ["Available", "Pending", "Sold"];
    const statusOf = (id: number) => statuses[id % statuses.length];
    for (let id = 1; id <= 80; id++) {
      const status = statusOf(id).toLowerCase();
      await service.add({ name: `Pet ${id}`, categoryId: 7, status });
    }
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Pet 77").getByRole("checkbox").click();
    await focusOn(linkOf(page, "Pet 79"));
    await linkOf(page, "Pet 60").hover();
    const expectRows = async () => {
      const { rows, focused } = await page.evaluate(DRAWN);
      const expected = rows.map(({ id }: { id: number }) => ({
        id,
        index: 82 - id,
        name: `Pet ${id}`,
        status: statusOf(id),
        isSelected: id === 77,
      }));
      const inOrder = expected.toSorted((a: { id: number }, b: { id: number }) => b.id - a.id);
      assertEquals([rows, focused], [inOrder, 79]);
    };
    for (const pixels of [130, 300, 700, 2_000, -90, -500, -3_000]) {
      await page.mouse.wheel(0, pixels);
      for (let frame = 0; frame < 3; frame++) {
        await page.evaluate("new Promise(requestAnimationFrame)");
        await expectRows();
      }
    }
    await row(page, "Pet 77").waitFor();
    // The one that goes takes its element, and so its focus, with it.
    await service.remove(79);
    await expectFocus(linkOf(page, "Pet 78"));
  },
);

testInBrowser("no row of a short list moves under the pointer", async ({ service, open }) => {
  for (let id = 1; id <= 4; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  const place = async (name: string) => Math.round((await row(page, name).boundingBox()).y);
  await row(page, "Pet 2").hover();
  const before = await place("Pet 2");
  for (const name of ["Max", "Bella", "Zoe"]) await service.add({ name, categoryId: 7 });
  await tab(page, "All 7").waitFor();
  await expectSoon(() => place("Pet 2"), before);
  // Beside its controls.
  await row(page, "Pet 2").click({ position: { x: 300, y: 10 } });
  await page.getByRole("article").getByRole("heading", { name: "Pet 2" }).waitFor();
});

testInBrowser(
  "the row that is pointed at shows its buttons, else the one with the focus, and a button with the focus is seen",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const shown = () =>
      page.locator(ROWS).evaluateAll((rows: Page[]) =>
        rows.filter((it) => {
          const buttons = [...it.querySelectorAll(".actions button")];
          const { defaultView } = it.ownerDocument;
          return buttons.some((button) => defaultView.getComputedStyle(button).opacity === "1");
        }).map((it) => it.querySelector("a").innerText)
      );
    await row(page, "Rex").waitFor();
    await focusOn(linkOf(page, "Mia"));
    await expectSoon(shown, ["Mia"]);
    await row(page, "Rex").hover();
    await expectSoon(shown, ["Rex"]);
    await page.keyboard.press("ArrowRight");
    await expectSoon(shown, ["Rex"]);
    await page.keyboard.press("ArrowRight");
    await expectFocus(button(page, "Edit Mia"));
    await expectSoon(shown, ["Mia", "Rex"]);
  },
);

testInBrowser(
  "forced colours show the selected tab and the dots",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "pending" });
    await service.add({ name: "Mia", categoryId: 7 });
    await service.change(1, { status: "sold" });
    await service.remove(2);
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
    await page.getByRole("link", { name: "Activity" }).click();
    const dots = page.locator(".events .dot");
    await dots.nth(2).waitFor();
    const colours = new Set<string>();
    for (let dot = 0; dot < 3; dot++) {
      colours.add(await styleOf(dots.nth(dot), "backgroundColor", "::before"));
    }
    assertEquals(colours.size, 3);
  },
);

testInBrowser(
  "Ctrl+P prints the whole list, and paper from elsewhere says what is missing",
  async ({ service, open }) => {
    for (let id = 1; id <= 250; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Pet 250").waitFor();
    await page.evaluate(`print = () => {
      dispatchEvent(new Event("beforeprint"));
      queueMicrotask(() => queueMicrotask(() => {
        printed = document.querySelectorAll(".paper tbody tr").length;
        dispatchEvent(new Event("afterprint"));
      }));
    }`);
    await page.emulateMedia({ media: "print" });
    const note = page.getByText(/These are the first/);
    await note.getByText("first 100 animals of the list. Ctrl+P prints all of it").waitFor();
    await page.emulateMedia({ media: "screen" });
    await note.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+p");
    await expectSoon(() => page.evaluate("globalThis.printed"), 250);
    await page.emulateMedia({ media: "print" });
    assertEquals(await note.count(), 0);
  },
);

testInBrowser("paper gets all loaded rows, and no controls", async ({ service, open }) => {
  for (let id = 1; id <= 90; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 90").waitFor();
  assertGreater(90, await page.locator(ROWS).count());
  await page.emulateMedia({ media: "print" });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  const paper = page.locator(".paper");
  await expectSoon(() => paper.locator("tbody tr").count(), 90);
  await paper.getByText("Pet 1", { exact: true }).waitFor();
  await paper.getByText("Animals", { exact: true }).waitFor();
  await paper.getByText(/^90 animals, \d+ \w+ 20\d\d$/).waitFor();
  await page.getByRole("grid").waitFor({ state: "hidden" });
  await button(page, "Add an animal").waitFor({ state: "hidden" });
  await page.getByRole("complementary").waitFor({ state: "hidden" });
  const { length } = await page.pdf();
  assertGreater(length, 10_000);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await page.emulateMedia({ media: "screen" });
  await paper.waitFor({ state: "detached" });
});

testInBrowser("no page has controls on paper", async ({ service, open }) => {
  await service.nameCategory(7n, "Rabbits and hares");
  await service.add({ name: "Rex", categoryId: 7, status: "sold" });
  const headings = {
    "status=sold&categoryId=7&q=re": "Animals sold in Rabbits and hares, with “re”",
    "animal=1": "Rex",
    "page=categories": "Categories",
    "page=activity": "Activity",
  };
  for (const [query, heading] of Object.entries(headings)) {
    const page = await open(`/window?${query}#key=${service.token}`);
    await page.getByText("Rex").or(page.getByText("Rabbits")).first().waitFor();
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const shown = page.locator(":is(h2, caption b)").filter({ visible: true }).first();
    await expectSoon(() => shown.innerText(), heading);
    const controls = page.locator("button, input, select, nav, .back").filter({ visible: true });
    await expectSoon(() => controls.count(), 0, query);
  }
});

testInBrowser(
  "a press anywhere in a row opens its animal, except on a control",
  async ({ service, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    for (const width of [1280, 390]) {
      const page = await open(`/window#key=${service.token}`, { width });
      const category = row(page, "Rex").getByText("Category 7");
      // The link of the name lies over the row.
      await category.click({ force: true });
      await page.getByRole("article").getByRole("heading", { name: "Rex" }).waitFor();
      assertEquals(page.url(), `${address}/window?animal=1`);
      await page.goBack();
      await page.getByRole("checkbox", { name: "Select Rex" }).click();
      await page.getByText("1 selected").waitFor();
      const [other] = await Promise.all([
        page.context().waitForEvent("page"),
        row(page, "Rex").locator(".id").click({ force: true, modifiers: ["Control"] }),
      ]);
      await other.waitForURL(`${address}/window?animal=1`);
      assertEquals(await page.getByRole("article").count(), 0);
      await page.context().close();
    }
  },
);
