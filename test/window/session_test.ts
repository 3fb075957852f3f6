/** How people sign in and stay signed in, and what the menu says of their key. */

import { assertEquals } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import { button, enterKey, expectAccessible, press, row } from "../support/window_controls.ts";

const key = (page: Page) => page.getByLabel("Access key");
const stay = (page: Page) => page.getByLabel("Stay signed in on this computer");

/** Closes the last tab of the browser, and opens another one later. */
async function reopen(
  page: Page,
  open: (path: string, options: { beside: Page }) => Promise<Page>,
) {
  const other = await open("/openapi.json", { beside: page });
  await page.close();
  return await open("/window", { beside: other });
}

testInBrowser(
  "the reader stays signed in on this computer only by choice, and signing out ends all tabs",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const first = await open("/window");
    await key(first).waitFor();
    await expectSoon(() => stay(first).isChecked(), false);
    await expectAccessible(first, "sign in");
    await enterKey(first, service.token);
    await row(first, "Rex").waitFor();
    await expectSoon(() => first.evaluate("localStorage.length"), 0);
    const second = await reopen(first, open);
    await key(second).waitFor();
    await stay(second).check();
    await enterKey(second, service.token);
    await row(second, "Rex").waitFor();
    const third = await reopen(second, open);
    await row(third, "Rex").waitFor();
    const fourth = await open("/window", { beside: third });
    await row(fourth, "Rex").waitFor();
    await press(third, "Sign out");
    for (const page of [third, fourth]) {
      await key(page).waitFor();
      await expectSoon(() => page.evaluate("localStorage.length + sessionStorage.length"), 0);
    }
    await key(await open("/window", { beside: third })).waitFor();
  },
);

testInBrowser("a key that is refused is not kept", async ({ service, open }) => {
  const { id, token } = await issueApiKey(service, { label: "old" });
  const page = await open("/window");
  await stay(page).check();
  await enterKey(page, token);
  await page.getByText("No animals yet").waitFor();
  await revokeApiKey(service, id);
  await page.reload();
  // The service calls it an API key.
  await page.getByText(/access key is .*revoked/).waitFor();
  await expectSoon(() => page.evaluate("localStorage.length"), 0);
  await enterKey(page, service.token);
  await page.getByText("No animals yet").waitFor();
  await expectSoon(() => page.evaluate("localStorage.length"), 0);
});

testInBrowser("a password manager can fill the key", async ({ open }) => {
  const page = await open("/window");
  await key(page).waitFor();
  const form = page.locator("form");
  const field = (name: string) => form.locator(`[autocomplete="${name}"]`);
  await expectSoon(() => field("current-password").getAttribute("type"), "password");
  await expectSoon(() => field("username").inputValue(), "Animal Store");
  // The reader does not meet the name.
  await key(page).focus();
  await page.keyboard.press("Shift+Tab");
  await expectSoon(() => page.evaluate("document.activeElement.name ?? ''"), "");
  await page.getByText("Ask the person who runs the store for a key.").waitFor();
});

testInBrowser(
  "a menu has the label and the end of the key on every width",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const expiresAt = Date.parse("2099-01-02T12:00:00Z");
    const { token } = await issueApiKey(service, { label: "till", isReadOnly: true, expiresAt });
    for (const width of [320, 390, 1280]) {
      const page = await open(`/window#key=${token}`, { width });
      const menu = page.getByRole("group", { name: "Your key" });
      await row(page, "Rex").waitFor();
      assertEquals(await menu.count(), 0);
      await press(page, /^Access key/);
      await menu.getByText("till").waitFor();
      await menu.getByText("Can see everything, and change nothing").waitFor();
      await menu.getByText("Expires on Jan 2, 2099").waitFor();
      await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
      await until(async () => {
        const { x, width: ofMenu } = await menu.boundingBox();
        return x >= 0 && x + ofMenu <= width;
      });
      await expectAccessible(page, "menu");
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "hidden" });
      await press(page, /^Access key/);
      await press(menu, "Keyboard shortcuts");
      await press(page.getByRole("dialog"), "Close");
      if (width < 752) await press(page, /^Access key/);
      await button(page, "Sign out").click();
      await key(page).waitFor();
    }
  },
);
