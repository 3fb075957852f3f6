/** The window says what is true: while it loads, when something fails, and before something is final. */

import { assertEquals, assertNotEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectFocus,
  fill,
  focusOn,
  linkOf,
  pickStatus,
  press,
  row,
  ROWS,
  statusText,
  tab,
  toast,
} from "../support/window_controls.ts";

testInBrowser(
  "Enter, Enter removes no selected animal, and nothing final is green",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("checkbox", { name: "Select Rex" }).click();
    const remove = button(page.getByRole("group", { name: "Selected animals" }), "Remove");
    await focusOn(remove);
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
    await expectFocus(remove);
  },
);

testInBrowser(
  "a double click removes one animal, and not the next one",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const remove = button(page, "Remove Mia");
    await remove.click();
    await toast(page, "Mia was removed").waitFor();
    await row(page, "Mia").waitFor({ state: "hidden" });
    await tab(page, "All 1").waitFor();
    // The second click comes while the first one is being sent.
    await button(page, "Remove Rex").dblclick();
    await toast(page, "Rex was removed").waitFor();
    assertEquals(await page.getByText("being saved").count(), 0);
    await press(page, "Undo");
    await toast(page, "Undone: Rex is back").waitFor();
    assertEquals(await service.listIds(), [1]);
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
    await press(dialog, "Add");
    const [name, category] = [dialog.getByLabel("Name"), dialog.getByLabel("Category")];
    await check(name, "Name is missing");
    await check(category, "There is no category “seven”");
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
    await press(dialog, "Add");
    await check(category, "Category must be an integer of 64 bits");
    network.fetch = service.fetch;
    await category.fill("8");
    await check(category, "");
    await press(dialog, "Add");
    await row(page, "Rex").waitFor();
    // An error without a field stays while another action succeeds, and goes with the success of its own.
    await service.add({ name: "Mia", categoryId: 7 });
    const refusal = page.getByRole("alert").filter({ hasText: "Rex: It fails" });
    network.fetch = (request) => {
      if (!/PATCH.*pets\/1/.test(request.method + request.url)) return service.fetch(request);
      return Promise.resolve(Response.json({ status: 500, message: "It fails" }, { status: 500 }));
    };
    await pickStatus(page, "Rex", "Sold");
    await refusal.waitFor();
    await expectSoon(() => statusText(page, "Rex"), "Available");
    await pickStatus(page, "Mia", "Sold");
    await toast(page, "Mia was sold").waitFor();
    await tab(page, "Sold 1").click();
    await row(page, "Rex").waitFor({ state: "hidden" });
    assertEquals(await refusal.isVisible(), true);
    await tab(page, "All 2").click();
    network.fetch = service.fetch;
    await pickStatus(page, "Rex", "Sold");
    await refusal.waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "an edit keeps its text when its animal leaves the list or is removed, and can restore it",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await tab(page, "Sold 2").click();
    await press(page, "Edit Mia");
    await dialog.getByLabel("Name").fill("My Mia");
    await service.change(2, { status: "pending" });
    await page.locator(ROWS).getByText("Mia").waitFor({ state: "detached" });
    await press(dialog, "Save");
    await dialog.getByText("It is now Mia, category 7, pending").waitFor();
    // Who has seen the next change, too, is not asked a second time.
    await service.change(2, { categoryId: 8 });
    await dialog.getByText("It is now Mia, category 8, pending").waitFor();
    await press(dialog, "Change anyway");
    await toast(page, "Mia was renamed My Mia").waitFor();
    await press(page, "Edit Rex");
    await dialog.getByLabel("Name").fill("My Rex");
    await service.remove(1);
    await dialog.getByText("Rex was removed meanwhile").waitFor();
    await press(dialog, "Restore and save");
    await toast(page, "Rex was renamed My Rex").waitFor();
    await dialog.waitFor({ state: "hidden" });
    const stored = await (await service.send("/v1/pets?order=asc")).json();
    assertEquals(stored, [
      { id: 1, name: "My Rex", categoryId: 7, status: "sold" },
      { id: 2, name: "My Mia", categoryId: 8, status: "pending" },
    ]);
  },
);

testInBrowser("the focus stays in the list after a removal", async ({ service, open }) => {
  for (const name of ["Rex", "Mia", "Zoe"]) await service.add({ name, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  const focused = () => page.evaluate("document.activeElement.closest('[data-id]')?.dataset.id");
  const remove = async (name: string) => {
    await focusOn(button(page, `Remove ${name}`));
    await page.keyboard.press("Enter");
    await row(page, name).waitFor({ state: "hidden" });
  };
  await remove("Mia");
  await expectSoon(focused, "1");
  await remove("Rex");
  await expectSoon(focused, "3");
  // Somebody else removes the animal while a dialog is open.
  await service.add({ name: "Max", categoryId: 7 });
  await focusOn(linkOf(page, "Zoe"));
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await service.remove(3);
  await row(page, "Zoe").waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await expectSoon(focused, "4");
});

testInBrowser(
  "a page that comes late brings back nothing older",
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
    await service.change(2, { name: "Last" });
    await row(page, "Last").waitFor();
    mayAnswer.resolve();
    await page.locator("#animals[aria-busy=false]").waitFor();
    await row(page, "Bella").waitFor();
    await row(page, "Rex").waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "a slow read of an animal brings back nothing older",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const [isRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      if (!request.url.includes("pets?ids=1")) return response;
      isRead.resolve();
      await mayAnswer.promise;
      return response;
    };
    await linkOf(page, "Rex").click();
    await isRead.promise;
    await service.change(1, { name: "Bella" });
    await page.getByRole("heading", { name: "Bella" }).waitFor();
    await page.locator("article[aria-busy=true]").waitFor();
    mayAnswer.resolve();
    await page.locator("article[aria-busy=false]").waitFor();
    await page.getByRole("heading", { name: "Bella" }).waitFor();
    assertEquals(await page.title(), "Bella – Animal Store");
  },
);
