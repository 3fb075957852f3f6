/** The window says what is true: while it loads, when something fails, and before something is final. */

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { OTHER_HOST, type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  enterKey,
  expectFocus,
  fill,
  keyOfTab,
  linkOf,
  pickStatus,
  press,
  row,
  ROWS,
  statusOf,
  tab,
} from "../support/window_controls.ts";

testInBrowser(
  "a list that loads says so, and asks for no key",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const gate = Promise.withResolvers<void>();
    let isHeld = (_: URL) => true;
    network.fetch = async (request) => {
      const url = new URL(request.url);
      if (url.pathname.startsWith("/v1/") && isHeld(url)) await gate.promise;
      return await service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`);
    const panel = page.getByRole("tabpanel");
    await panel.getByText("Loading …").waitFor();
    const activity = page.getByRole("region", { name: "Activity" });
    await expectSoon(() => activity.getByText("Loading …").count(), 1);
    const check = async () => {
      await expectSoon(() => panel.getAttribute("aria-busy"), "true");
      assertEquals(await page.getByText(/No such animals|No animals yet/).count(), 0);
      assertEquals(await page.getByLabel("Access key").count(), 0);
    };
    await check();
    isHeld = ({ searchParams }) =>
      searchParams.get("status") === "sold" && searchParams.get("limit") === "100";
    gate.resolve();
    await row(page, "Rex").waitFor();
    await expectSoon(() => panel.getAttribute("aria-busy"), "false");
    const tabGate = Promise.withResolvers<void>();
    const fetch = network.fetch;
    network.fetch = async (request) => {
      if (isHeld(new URL(request.url))) await tabGate.promise;
      return await fetch(request);
    };
    await tab(page, "Sold 1").click();
    await panel.getByText("Loading …").waitFor();
    // The rows of the former list stay, dimmed.
    await expectSoon(() => row(page, "Rex").count(), 1);
    await check();
    tabGate.resolve();
    await row(page, "Rex").waitFor();
    await tab(page, "Pending 0").click();
    await page.getByText("No such animals.").waitFor();
  },
);

testInBrowser(
  "Enter, Enter removes nothing, and nothing final is green",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await button(page, "Remove Rex").focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await expectFocus(button(dialog, "Keep"));
    await expectSoon(() => dialog.getByRole("button").allTextContents(), ["Keep", "Remove"]);
    const colourOf = (target: Page) =>
      target.evaluate((it: Page) =>
        it.ownerDocument.defaultView.getComputedStyle(it).backgroundColor
      );
    const green = await colourOf(button(page, "Add an animal"));
    assertNotEquals(await colourOf(button(dialog, "Remove")), green);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    assertEquals(await service.listIds(), [1]);
    await expectFocus(button(page, "Remove Rex"));
    // The question about a conflict is the same.
    await press(page, "Edit Rex");
    await page.getByLabel("Name of Rex").fill("Max");
    await service.change(1, { name: "Mia" });
    await page.keyboard.press("Enter");
    await dialog.filter({ hasText: "Somebody else" }).waitFor();
    await expectFocus(button(dialog, "Keep editing"));
    assertNotEquals(await colourOf(button(dialog, "Change anyway")), green);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    await expectSoon(() => page.getByLabel("Name of Rex").inputValue(), "Max");
    await press(page, "Cancel");
    await press(dialog, "Discard");
    await row(page, "Mia").waitFor();
  },
);

testInBrowser(
  "an error stands at its field, and goes when its cause goes",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const faultOf = async (field: Page) => {
      const id = await field.getAttribute("aria-describedby");
      return await page.locator(`[id="${id}"]`).textContent();
    };
    const check = async (field: Page, fault: string) => {
      await expectSoon(() => faultOf(field), fault);
      await expectSoon(() => field.getAttribute("aria-invalid"), String(fault !== ""));
    };
    await press(page, "Add an animal");
    await fill(dialog, "", "seven");
    await press(dialog, "Save");
    const [name, category] = [dialog.getByLabel("Name"), dialog.getByLabel("Category")];
    await check(name, "Name is missing");
    await check(category, "Category must be a whole number");
    await expectFocus(name);
    await name.fill("Rex");
    await check(name, "");
    await category.fill("9223372036854775808");
    await check(category, "Category is too large");
    await category.fill("7");
    await check(category, "");
    // A refusal of the service is at its field, too.
    network.fetch = (request) => {
      if (request.method !== "POST") return service.fetch(request);
      const message = 'Field "categoryId" must be an integer of 64 bits';
      const error = { code: "invalid_body", status: 400, message };
      return Promise.resolve(Response.json(error, { status: 400 }));
    };
    await press(dialog, "Save");
    await check(category, "Category must be an integer of 64 bits");
    network.fetch = service.fetch;
    await category.fill("8");
    await check(category, "");
    await press(dialog, "Save");
    await row(page, "Rex").waitFor();
    await press(page, "Edit Rex");
    const edited = page.getByLabel("Category of Rex");
    await edited.fill("x");
    await page.keyboard.press("Enter");
    await check(edited, "Category must be a whole number");
    await edited.fill("9");
    await check(edited, "");
    await page.keyboard.press("Enter");
    await row(page, "Rex").filter({ hasText: "9" }).waitFor();
    const filter = page.getByLabel("Filter by category");
    await filter.fill("x");
    await check(filter, "Category must be a whole number");
    await row(page, "Rex").waitFor();
    await filter.fill("8");
    await check(filter, "");
    await page.getByText("No such animals.").waitFor();
    await filter.fill("");
    // An error without a field goes with the next success.
    network.fetch = (request) => {
      if (request.method !== "PATCH") return service.fetch(request);
      return Promise.resolve(Response.json({ status: 500, message: "It fails" }, { status: 500 }));
    };
    await pickStatus(page, "Rex", "Sold");
    await page.getByRole("alert").filter({ hasText: "It fails" }).waitFor();
    await expectSoon(() => statusOf(page, "Rex").innerText(), "Available");
    network.fetch = service.fetch;
    await pickStatus(page, "Rex", "Sold");
    await page.getByText("It fails").waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "an edited row keeps its text when its animal vanishes",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "Sold 2").click();
    for (const name of ["Rex", "Mia"]) {
      await press(page, `Edit ${name}`);
      await page.getByLabel(`Name of ${name}`).fill(`My ${name}`);
    }
    await service.remove(1);
    await page.getByText("Rex was removed by somebody else").waitFor();
    await expectSoon(() => page.getByLabel("Name of Rex").inputValue(), "My Rex");
    await service.change(2, { status: "pending" });
    await page.getByText("Mia left this list").waitFor();
    await expectSoon(() => page.getByLabel("Name of Mia").inputValue(), "My Mia");
    await tab(page, "All 1").click();
    await page.getByText("Mia left this list").waitFor({ state: "hidden" });
    await expectSoon(() => page.getByLabel("Name of Mia").inputValue(), "My Mia");
    await press(page, "Close");
    await page.getByLabel("Name of Rex").waitFor({ state: "hidden" });
  },
);

testInBrowser("the focus stays in the list after a removal", async ({ service, open }) => {
  for (const name of ["Rex", "Mia", "Zoe"]) await service.add({ name, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  const focused = () => page.evaluate("document.activeElement.closest('[data-id]')?.dataset.id");
  const remove = async (name: string) => {
    await button(page, `Remove ${name}`).focus();
    await page.keyboard.press("Enter");
    await press(page.getByRole("dialog"), "Remove");
    await row(page, name).waitFor({ state: "hidden" });
  };
  await remove("Mia");
  await expectSoon(focused, "1");
  await remove("Rex");
  await expectSoon(focused, "3");
  // Somebody else removes the animal while the question is open.
  await service.add({ name: "Max", categoryId: 7 });
  await button(page, "Remove Zoe").focus();
  await page.keyboard.press("Enter");
  await service.remove(3);
  await row(page, "Zoe").waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await expectSoon(focused, "4");
});

testInBrowser(
  "the connection is a dot, which turns amber while the service is away",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "All 0").waitFor();
    const connection = page.locator(".connection");
    const colour = () =>
      connection.evaluate((it: Page) =>
        it.ownerDocument.defaultView.getComputedStyle(it, "::before").backgroundColor
      );
    await connection.getByText("Connected").waitFor();
    const good = await colour();
    const width = (await connection.getByText("Connected").boundingBox()).width;
    assertEquals(width, 1);
    network.fetch = (request) => {
      if (!request.url.includes("/v1/")) return service.fetch(request);
      const error = { status: 503, message: "The store is away" };
      return Promise.resolve(Response.json(error, { status: 503 }));
    };
    await page.getByLabel("Filter by category").fill("7");
    await connection.filter({ hasText: "The store is away. Trying again …" }).waitFor();
    await until(async () => await colour() !== good);
    network.fetch = service.fetch;
    await page.getByText("No such animals.").waitFor();
    await expectSoon(colour, good);
  },
);

testInBrowser(
  "a name of white space can be clicked, and each name is isolated",
  async ({ service, open }) => {
    await service.add({ name: " \u200b", categoryId: 7 });
    await service.add({ name: "مرحبا!", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "مرحبا!").waitFor();
    await expectSoon(() => page.locator(`${ROWS} bdi`).allTextContents(), [
      "مرحبا!",
      "(blank name)",
    ]);
    const sentences = page.locator(".events bdi");
    await expectSoon(() => sentences.first().textContent(), "مرحبا!");
    await linkOf(page, "(blank name)").click();
    await page.getByRole("heading", { name: "(blank name)" }).waitFor();
  },
);

testInBrowser(
  "a page loads again if too much happened meanwhile",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "Sold 2").waitFor();
    const [isRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let pages = 0;
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      const isPage = /limit=100&status=sold/.test(request.url);
      if (!isPage || pages++ > 0) return response;
      isRead.resolve();
      await mayAnswer.promise;
      return response;
    };
    await tab(page, "Sold 2").click();
    await isRead.promise;
    await service.change(1, { name: "Bella" });
    const changes = Array.from(
      { length: 1_001 },
      (_, count) => service.change(2, { categoryId: count }),
    );
    await Promise.all(changes);
    await service.change(2, { name: "Last" });
    await page.getByRole("region", { name: "Activity" }).getByText(/At least 1,000|Last was/)
      .first().waitFor();
    mayAnswer.resolve();
    await expectSoon(() => pages, 2);
    await page.locator("#animals[aria-busy=false]").waitFor();
    await row(page, "Bella").waitFor();
    await row(page, "Rex").waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "a key in the address is for localhost, and replaces no other without a question",
  async ({ service, address, open }) => {
    const other = new URL(address);
    other.hostname = OTHER_HOST;
    const elsewhere = await open(`/window#key=${service.token}`, { address: other.href });
    await elsewhere.getByText(/^This page takes no key from its address/).waitFor();
    await expectSoon(() => elsewhere.evaluate("sessionStorage.length"), 0);
    await expectSoon(() => elsewhere.url(), `${other.href}/window`);
    await elsewhere.getByLabel("Access key").fill("x");
    await elsewhere.getByText(/^This page takes no key from its address/).waitFor({
      state: "hidden",
    });
    await enterKey(elsewhere, service.token);
    await tab(elsewhere, "All 0").waitFor();
    await elsewhere.evaluate(`location.hash = "key=pets_other"`);
    await tab(elsewhere, "All 0").waitFor();
    await elsewhere.getByRole("alert").filter({ hasText: /takes no key from/ }).waitFor();
    await expectSoon(() => keyOfTab(elsewhere), service.token);
    const page = await open("/window");
    await enterKey(page, service.token);
    await tab(page, "All 0").waitFor();
    const key = () => keyOfTab(page);
    const follow = () => page.evaluate(`location.hash = "key=pets_other"`);
    const dialog = page.getByRole("dialog").filter({ hasText: "Use the key in the address?" });
    await follow();
    await dialog.waitFor();
    await expectSoon(() => page.url(), `${address}/window`);
    await expectSoon(key, service.token);
    await expectFocus(button(dialog, "Keep the key of this tab"));
    await page.keyboard.press("Enter");
    await tab(page, "All 0").waitFor();
    await expectSoon(key, service.token);
    await follow();
    await press(dialog, "Use the other key");
    await page.getByText(/mistyped/).waitFor();
    const response = await page.request.get(`${address}/window`);
    assertMatch(response.headers()["cross-origin-opener-policy"], /^same-origin$/);
  },
);
