/** How people find an animal in the window, reach it by keys, and see what happened to it. */

import { assertEquals } from "@std/assert";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectFocus,
  happened,
  linkOf,
  pickStatus,
  press,
  row,
  ROWS,
  statusOf,
  tab,
} from "../support/window_controls.ts";

testInBrowser(
  "a search finds parts of names, and continues while pages are empty",
  async ({ service, address, network, open }) => {
    for (const name of ["Rex", "STRASSE", "T-rex", "Mia"]) {
      await service.add({
        name,
        categoryId: 7,
      });
    }
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Mia").waitFor();
    const gate = Promise.withResolvers<void>();
    let searches = 0;
    network.fetch = async (request) => {
      // If the machine is busy, a pause in the typing is long enough for other searches.
      const isFirst = request.url.endsWith("name=rEx") && searches++ === 0;
      if (!isFirst) return await service.fetch(request);
      await gate.promise;
      const link = `<https://shop.example/v1/pets?limit=100&name=rex>; rel="next"`;
      return Response.json([], { headers: { link, "x-feed-position": "0" } });
    };
    const search = page.getByLabel("Search by name");
    await search.pressSequentially("rEx");
    await page.getByText("Searching …").waitFor();
    assertEquals(await page.getByText("No such animals.").count(), 0);
    // Typed text stays while events come.
    await service.add({ name: "Zoe", categoryId: 7 });
    await tab(page, "All 5").waitFor();
    await expectSoon(() => search.inputValue(), "rEx");
    gate.resolve();
    await row(page, "Rex").waitFor();
    // The old rows stay until the new ones come.
    await expectSoon(() => page.locator(`${ROWS} bdi`).allTextContents(), ["T-rex", "Rex"]);
    await expectSoon(() => page.url(), `${address}/window?name=rEx`);
    await service.change(5, { name: "Rexona" });
    await row(page, "Rexona").waitFor();
    await service.change(1, { name: "Max" });
    await row(page, "Rex").waitFor({ state: "hidden" });
    await search.fill("straße");
    await row(page, "STRASSE").waitFor();
    await search.fill("nobody");
    await page.getByText("No such animals.").waitFor();
    await press(page, "Show all animals");
    await row(page, "Mia").waitFor();
    await expectSoon(() => search.inputValue(), "");
    await expectSoon(() => page.url(), `${address}/window`);
  },
);

testInBrowser(
  "a tab lists the animals without a status, and what is shown is in the address",
  async ({ service, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.add({ name: "Mia", categoryId: 8, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "No status 1").click();
    await row(page, "Rex").waitFor();
    await row(page, "Mia").waitFor({ state: "hidden" });
    await expectSoon(() => page.url(), `${address}/window?status=none`);
    // The list follows who gets a status, and who loses it.
    await service.change(2, { status: null });
    await row(page, "Mia").waitFor();
    await service.change(1, { status: "sold" });
    await row(page, "Rex").waitFor({ state: "hidden" });
    await tab(page, "All 2").click();
    await page.getByLabel("Filter by category").fill("7");
    await row(page, "Mia").waitFor({ state: "hidden" });
    await expectSoon(() => page.url(), `${address}/window?categoryId=7`);
    await page.reload();
    await row(page, "Rex").waitFor();
    await expectSoon(() => page.locator(ROWS).count(), 1);
    await expectSoon(() => page.getByLabel("Filter by category").inputValue(), "7");
    await page.goBack();
    await tab(page, "No status 1").and(page.locator("[aria-selected=true]")).waitFor();
    await row(page, "Mia").waitFor();
  },
);

testInBrowser(
  "the page of an animal shows its whole history, and who changed what",
  async ({ service, address, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    for (let count = 1; count <= 110; count++) await service.change(1, { categoryId: 100 + count });
    await service.change(1, { name: "Max", status: "pending" });
    for (let count = 0; count < 60; count++) {
      await service.add({
        name: `Pet ${count}`,
        categoryId: 7,
      });
    }
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "Pending 1").click();
    await linkOf(page, "Max").click();
    await expectSoon(() => page.url(), `${address}/window?status=pending&animal=1`);
    const changes = page.locator(".history li");
    const first = changes.first();
    await first.filter({ hasText: "Changed" }).filter({ hasText: "by you" }).waitFor();
    for (const [label, was, is] of [["Name", "Rex", "Max"], ["Status", "Available", "Pending"]]) {
      const difference = first.locator("dl div").filter({ hasText: label });
      await expectSoon(() => difference.locator("del").textContent(), was);
      await expectSoon(() => difference.locator("ins").textContent(), is);
    }
    await expectSoon(() => changes.count(), 100);
    await press(page, "Show older changes");
    await expectSoon(() => changes.count(), 112);
    await changes.last().filter({ hasText: "Added" }).filter({ hasText: "by you" }).waitFor();
    await button(page, "Show older changes").waitFor({ state: "hidden" });
    // Selling is one control, and the history follows.
    await pickStatus(page, "Max", "Sold");
    await first.filter({ hasText: "Sold" }).filter({ hasText: "by you" }).waitFor();
    await expectSoon(() => changes.count(), 113);
    await page.reload();
    await page.getByRole("heading", { name: "Max" }).waitFor();
    await page.goBack();
    await page.getByText("No such animals.").waitFor();
    await page.goForward();
    await page.getByRole("heading", { name: "Max" }).waitFor();
    await service.remove(1);
    await page.getByText("This animal was removed.").waitFor();
    await statusOf(page, "Max").waitFor({ state: "hidden" });
    await page.reload();
    await page.getByText("There is no such animal").waitFor();
  },
);

testInBrowser(
  "a step back while the page opens shows the list that replaces the first one",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "No status 1").click();
    await row(page, "Rex").waitFor();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gates = [first, second];
    network.fetch = async (request) => {
      if (request.url.includes("/v1/pets?limit=100")) await gates.shift()?.promise;
      return await service.fetch(request);
    };
    await page.reload();
    await until(() => assertEquals(gates.length, 1));
    await page.goBack();
    await until(() => assertEquals(gates.length, 0));
    const older = page.waitForEvent("requestfinished");
    first.resolve();
    await older;
    second.resolve();
    await row(page, "Rex").waitFor();
    await service.add({ name: "Max", categoryId: 7 });
    await row(page, "Max").waitFor();
  },
);

testInBrowser(
  "an animal that is removed while its history loads is shown as removed",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("/v1/pets/1/events")) await gate.promise;
      return await service.fetch(request);
    };
    await linkOf(page, "Rex").click();
    await page.getByRole("heading", { name: "Rex" }).waitFor();
    await service.remove(1);
    await page.getByText("This animal was removed.").waitFor();
    gate.resolve();
    await page.getByText("Loading …").waitFor({ state: "hidden" });
    await expectSoon(() => page.getByText("This animal was removed.").count(), 1);
  },
);

testInBrowser("the list is where it was after the page of an animal", async ({ service, open }) => {
  for (let id = 1; id <= 90; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 90").waitFor();
  await page.evaluate("scrollTo(0, 1500)");
  const link = linkOf(page, "Pet 50");
  await link.click();
  await page.getByRole("heading", { name: "Pet 50" }).waitFor();
  await expectFocus(page.getByRole("heading", { name: "Pet 50" }));
  await service.add({ name: "Rex", categoryId: 7 });
  await happened(page, "91 animals were added").waitFor();
  await page.getByRole("link", { name: "All animals" }).click();
  await link.waitFor();
  await expectSoon(() => page.evaluate("scrollY"), 1500);
  await expectFocus(link);
});

testInBrowser(
  "controls name their animal, and the list is one tab stop with arrows inside",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia", "Zoe"]) {
      await service.add({ name, categoryId: 7, status: "sold" });
    }
    const page = await open(`/window#key=${service.token}`);
    const link = (name: string) => linkOf(page, name);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await row(page, "Rex").waitFor();
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to the animals" });
    await expectFocus(skip);
    await until(async () => (await skip.boundingBox()).y >= 0);
    await press("Enter");
    await expectFocus(link("Zoe"));
    await press("ArrowDown");
    await expectFocus(link("Mia"));
    const controls = [statusOf(page, "Mia"), button(page, "Edit Mia"), button(page, "Remove Mia")];
    for (const control of controls) {
      await press("ArrowRight");
      await expectFocus(control);
    }
    await press("ArrowRight");
    await expectFocus(button(page, "Remove Mia"));
    await press("ArrowDown");
    await expectFocus(button(page, "Remove Rex"));
    await press("ArrowLeft", "ArrowLeft", "ArrowLeft");
    await expectFocus(link("Rex"));
    await press("Home");
    await expectFocus(link("Zoe"));
    await press("End");
    await expectFocus(link("Rex"));
    // Tab leaves the list, and comes back to the same row.
    await press("Tab");
    await expectFocus(page.getByRole("region", { name: "Activity" }));
    await press("Shift+Tab");
    await expectFocus(link("Rex"));
    // The arrow keys changed no status.
    assertEquals((await (await service.send("/v1/events")).json()).length, 3);
  },
);
