/** How people sign in and stay signed in, and what the menu says of their key. */

import { assertEquals, assertMatch } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { OTHER_HOST, type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import { enterKey, linkOf, press, row, signOut } from "../support/window_controls.ts";

const key = (page: Page) => page.getByLabel("Access key");
const stay = (page: Page) => page.getByLabel("Stay signed in on this computer");

/** Whether the storage of the tab, the storage of the computer, the cookies and the address have a text. */
function placesOf(page: Page, text: string): Promise<boolean[]> {
  const places = "localStorage, document.cookie, navigation.entries().map((it) => it.url)";
  const hasText = `(it) => JSON.stringify(it).includes("${text}")`;
  return page.evaluate(`[sessionStorage, ${places}].map(${hasText})`);
}

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
  "a key stays in its tab, or by choice in all tabs, and signing out ends all that have it",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/window");
    await enterKey(page, "pets_wrong");
    await page.getByText(/is not valid/).waitFor();
    await enterKey(page, service.token);
    await row(page, "Rex").waitFor();
    await expectSoon(() => placesOf(page, service.token), [true, false, false, false]);
    await page.reload();
    await row(page, "Rex").waitFor();
    const other = await open("/window", { beside: page });
    await key(other).waitFor();
    await signOut(page);
    await key(page).waitFor();
    await stay(page).check();
    await enterKey(page, service.token);
    for (const it of [page, other]) await row(it, "Rex").waitFor();
    await signOut(page);
    for (const it of [page, other]) {
      await key(it).waitFor();
      await expectSoon(() => placesOf(it, service.token), [false, false, false, false]);
    }
  },
);

testInBrowser(
  "the reader stays signed in on this computer only by choice, and only with a key that is good",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const { id, token } = await issueApiKey(service, { label: "old" });
    const first = await open("/window");
    await key(first).waitFor();
    assertEquals(await stay(first).isChecked(), false);
    // A password manager can fill the key. The reader does not meet the name that it wants.
    await first.locator('[type="password"][autocomplete="current-password"]').waitFor();
    await first.locator('[autocomplete="username"]').waitFor({ state: "attached" });
    await key(first).focus();
    await first.keyboard.press("Shift+Tab");
    await expectSoon(() => first.evaluate("document.activeElement.name ?? ''"), "");
    await enterKey(first, token);
    await row(first, "Rex").waitFor();
    const second = await reopen(first, open);
    await stay(second).check();
    await enterKey(second, token);
    await row(second, "Rex").waitFor();
    const third = await reopen(second, open);
    await row(third, "Rex").waitFor();
    // The page is away meanwhile: otherwise it may have forgotten the key before it loads again.
    const pageAddress = third.url();
    await third.goto("about:blank");
    await revokeApiKey(service, id);
    await third.goto(pageAddress);
    // The service calls it an API key.
    await third.getByText(/access key is .*revoked/).waitFor();
    await stay(third).uncheck();
    await enterKey(third, service.token);
    await row(third, "Rex").waitFor();
    await expectSoon(() => placesOf(third, service.token), [true, false, false, false]);
  },
);

testInBrowser(
  "a menu has the label and the end of the key on every width, and says what the key may do",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const expiresAt = Date.parse("2099-01-02T12:00:00Z");
    const { token } = await issueApiKey(service, { label: "till", isReadOnly: true, expiresAt });
    for (const width of [320, 1280]) {
      const page = await open(`/window#key=${token}`, { width });
      const menu = page.getByRole("group", { name: "Your key" });
      const mark = page.getByText("Read only", { exact: true });
      const isOnScreen = async (target: Page) => {
        const { x, width: ofTarget } = await target.boundingBox();
        return x >= 0 && x + ofTarget <= width;
      };
      await row(page, "Rex").waitFor();
      await until(() => isOnScreen(mark));
      assertEquals(await page.getByRole("button", { name: /Add|Edit|Remove/ }).count(), 0);
      assertEquals(await page.getByLabel(/^Status of/).count(), 0);
      await press(page, /^Access key/);
      await menu.getByText("till").waitFor();
      await menu.getByText("Can see everything, and change nothing").waitFor();
      await menu.getByText("Expires on Jan 2, 2099").waitFor();
      await until(() => isOnScreen(menu));
      await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width);
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "hidden" });
      await linkOf(page, "Rex").click();
      await page.getByRole("heading", { name: "Rex" }).waitFor();
      await until(() => isOnScreen(mark));
      await signOut(page);
      await key(page).waitFor();
    }
  },
);

testInBrowser(
  "a key in the address is for localhost, and disappears from there",
  async ({ service, address, open }) => {
    const other = new URL(address);
    other.hostname = OTHER_HOST;
    const elsewhere = await open(`/window#key=${service.token}`, { address: other.href });
    const refusal = elsewhere.getByText(/^This page takes no key from its address/);
    await refusal.waitFor();
    await expectSoon(() => placesOf(elsewhere, service.token), [false, false, false, false]);
    await key(elsewhere).fill("x");
    await refusal.waitFor({ state: "hidden" });
    await enterKey(elsewhere, service.token);
    await elsewhere.getByText("No animals yet").waitFor();
    await elsewhere.evaluate(`location.hash = "key=pets_other"`);
    await elsewhere.getByRole("alert").filter({ hasText: /takes no key from/ }).waitFor();
    await expectSoon(() => placesOf(elsewhere, service.token), [true, false, false, false]);
    const page = await open(`/window#key=${service.token}`);
    await page.getByText("No animals yet").waitFor();
    await expectSoon(() => placesOf(page, service.token), [true, false, false, false]);
    await page.evaluate(`location.hash = "key=pets_other"`);
    await page.getByText(/mistyped/).waitFor();
    await expectSoon(() => page.url(), `${address}/window`);
    const response = await page.request.get(`${address}/window`);
    assertMatch(response.headers()["cross-origin-opener-policy"], /^same-origin$/);
  },
);
