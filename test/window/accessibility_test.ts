/** Axe finds nothing, and nothing is wider than the screen: in each state of the page, light and dark, wide and narrow. */

import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  enterKey,
  expectAccessible,
  linkOf,
  pickStatus,
  press,
  row,
  showActivity,
  statusOf,
} from "../support/window_controls.ts";

const LONG_NAME = `<img src=x onerror=alert(1)>${"W".repeat(200)}`;

for (const width of [390, 1280]) {
  testInBrowser(
    `axe finds nothing on a page of ${width} pixels, light and dark`,
    async ({ service, network, open }) => {
      const page = await open("/window", { width });
      const dialog = page.getByRole("dialog");
      const check = async (state: string) => {
        await expectSoon(
          () => page.evaluate("document.documentElement.scrollWidth"),
          width,
          state,
        );
        await expectAccessible(page, state);
      };
      const isNarrow = width === 390;
      /** A narrow page has these controls in a menu. */
      const openTools = async () => {
        if (isNarrow) await press(page, "Filters and more");
      };
      await page.getByLabel("Access key").waitFor();
      await check("sign-in");
      await press(page, "Sign in");
      await page.getByText("The access key is missing").waitFor();
      await check("sign-in with a fault");
      await enterKey(page, service.token);
      await page.getByText("No animals yet").waitFor();
      await check("empty store");
      for (const name of ["Mia", LONG_NAME, "Rex"]) {
        await service.add({ name, categoryId: 7, status: "available" });
      }
      await row(page, "Rex").waitFor();
      await check("list");
      await service.nameCategory(7n, "Dogs");
      await service.nameCategory(8n, LONG_NAME.slice(0, 100));
      await openTools();
      await page.getByLabel("Filter by category").click();
      await page.getByRole("option", { name: "Dogs" }).waitFor();
      await check("list of categories");
      await page.keyboard.press("Escape");
      await page.getByLabel("Filter by category").fill("qq");
      await page.getByText("There is no category “qq”").waitFor();
      await check("filter with a fault");
      await page.getByLabel("Filter by category").fill("");
      await press(page, /^Access key/);
      await page.getByRole("group", { name: "Your key" }).waitFor();
      await check("menu of the key");
      await press(page.getByRole("group", { name: "Your key" }), "Keyboard shortcuts");
      await dialog.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
      await check("help");
      await press(dialog, "Close");
      await page.getByRole("link", { name: "Categories" }).click();
      if (isNarrow) await press(page, "Actions for Dogs");
      await button(page, "Rename Dogs").waitFor();
      await check("categories");
      if (isNarrow) await page.keyboard.press("Escape");
      await press(page, "Add a category");
      await press(dialog, "Add");
      await dialog.getByText("Name is missing").waitFor();
      await check("form of a category with a fault");
      await press(dialog, "Cancel");
      await page.getByRole("link", { name: "All animals" }).click();
      await page.getByLabel("Search by name, note or id").fill("rex");
      await page.getByText("1 animal", { exact: true }).waitFor();
      await check("results");
      await press(page, "Clear");
      await statusOf(page, "Rex").click();
      await page.getByRole("option", { name: "Sold" }).waitFor();
      await check("list of statuses");
      await page.keyboard.press("Escape");
      for (const state of ["Add an animal", "Import"]) {
        if (state === "Import") await openTools();
        await press(page, state);
        await dialog.getByRole("heading", { name: state }).waitFor();
        await check(state);
        if (state === "Add an animal") {
          await press(dialog, "Add");
          await dialog.getByText("Name is missing").waitFor();
          await check("form with faults");
        }
        await press(dialog, "Cancel");
      }
      // On a narrow page, the page of the animal edits and removes it.
      if (!isNarrow) {
        await press(page, `Edit ${LONG_NAME}`);
        await dialog.getByLabel("Category").fill("9223372036854775808");
        await page.keyboard.press("Enter");
        await page.getByText("Category is too large").waitFor();
        await check("edit with a fault");
        await page.keyboard.press("Escape");
        await press(dialog, "Discard");
        await press(page, "Edit Rex");
        await dialog.getByLabel("Name").fill("Max");
        await service.change(3, { name: "Zoe" });
        await press(dialog, "Save");
        await button(dialog, "Change anyway").waitFor();
        await check("conflict");
        await service.remove(3);
        await dialog.getByRole("alert").filter({ hasText: "Rex was removed" }).waitFor();
        await check("edit of a removed animal");
        await press(dialog, "Cancel");
        await press(dialog, "Discard");
      }
      await service.add({ name: "Bella", categoryId: 7 });
      await row(page, "Bella").waitFor();
      network.fetch = (request) => {
        if (request.method !== "PATCH") return service.fetch(request);
        return Promise.resolve(Response.json({ message: "It fails" }, { status: 500 }));
      };
      await pickStatus(page, "Bella", "Sold");
      await page.getByRole("alert").filter({ hasText: "It fails" }).waitFor();
      await check("failure");
      await openTools();
      await page.getByLabel("Filter by category").fill("8");
      await page.getByText(/^No animals in/).waitFor();
      await page.keyboard.press("Escape");
      await check("no such animals");
      await press(page, "Clear");
      await linkOf(page, LONG_NAME).click();
      await page.locator(".history li").first().waitFor();
      await check("history");
      await service.remove(2);
      await page.getByText("This animal was removed.").waitFor();
      await check("history of a removed animal");
      await showActivity(page);
      await page.getByRole("article").getByRole("listitem").first().waitFor();
      await check("activity");
      const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
      await revokeApiKey(service, service.keyId);
      await dialog.filter({ hasText: "Sign in" }).waitFor();
      await check("a key that ended");
      await enterKey(dialog, token);
      await page.getByText("Read only").waitFor();
      await check("read only");
    },
  );
}
