/** How people sign in and stay signed in, and what the menu says of their key. */

import { assertEquals, assertMatch } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { OTHER_HOST } from "../support/launch_chromium.ts";
import { until } from "../support/until.ts";
import {
  enterKey,
  expectFocus,
  fill,
  focusOn,
  linkOf,
  press,
  row,
  signOut,
  tab,
  toast,
} from "../support/window_controls.ts";

const key = (page: Page) => page.getByLabel("Access key");
const stay = (page: Page) => page.getByLabel("Stay signed in on this computer");

/** Whether the storage of the browser, that of the tab, the cookies and the address have a text. */
function placesOf(page: Page, text: string): Promise<boolean[]> {
  const places = "sessionStorage, document.cookie, navigation.entries().map((it) => it.url)";
  const hasText = `(it) => JSON.stringify(it).includes("${text}")`;
  return page.evaluate(`[localStorage, ${places}].map(${hasText})`);
}

/** Makes the browser believe that somebody has last used the page so many hours ago. */
function setLastUse(page: Page, hours: number): Promise<void> {
  return page.evaluate(
    `localStorage["lastUse /shop/window"] = Date.now() - ${hours} * 3_600_000`,
  );
}

testInBrowser(
  "a new tab of a browser that is signed in is signed in, and signing out ends all",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/window");
    const other = await open("/window", { beside: page });
    await key(other).waitFor();
    // A password manager can fill the key. The reader does not meet the name that it wants.
    await page.locator('[type="password"][autocomplete="current-password"]').waitFor();
    await page.locator('[autocomplete="username"]').waitFor({ state: "attached" });
    await focusOn(key(page));
    await page.keyboard.press("Shift+Tab");
    await expectSoon(() => page.evaluate("document.activeElement.name ?? ''"), "");
    await enterKey(page, "pets_wrong");
    await page.getByText(/is not valid/).waitFor();
    await expectSoon(() => placesOf(page, "pets_wrong"), [false, false, false, false]);
    await enterKey(page, service.token);
    const third = await open("/window", { beside: page });
    for (const it of [page, other, third]) await row(it, "Rex").waitFor();
    await expectSoon(() => placesOf(page, service.token), [true, false, false, false]);
    await signOut(third);
    for (const it of [page, other, third]) {
      await key(it).waitFor();
      await expectSoon(() => placesOf(it, service.token), [false, false, false, false]);
    }
  },
);

testInBrowser(
  "the key ends when nobody has used the page for four hours, unless the reader stays signed in",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/window");
    assertEquals(await stay(page).isChecked(), false);
    await page.getByText(/until nobody has used the page for 4 hours or you sign out/).waitFor();
    await enterKey(page, service.token);
    await row(page, "Rex").waitFor();
    const other = await open("/window", { beside: page });
    await row(other, "Rex").waitFor();
    await press(other, "Add an animal");
    await fill(other.getByRole("dialog"), "Mia", "7");
    // Somebody uses one tab, so both stay.
    await setLastUse(page, 3.9);
    await page.keyboard.press("Shift");
    const sinceUse = "Date.now() - localStorage['lastUse /shop/window']";
    await until(async () => await page.evaluate(sinceUse) < 60_000);
    await setLastUse(page, 4.1);
    await page.keyboard.press("Shift");
    // What was typed stays.
    for (const it of [page, other]) await it.getByText(/^Nobody has used this page/).waitFor();
    await expectSoon(() => placesOf(page, service.token), [false, false, false, false]);
    const third = await open("/window", { beside: page });
    await stay(third).check();
    await third.getByText("until you sign out.").waitFor();
    await enterKey(third, service.token);
    for (const it of [page, other, third]) await row(it, "Rex").waitFor();
    await press(other.getByRole("dialog"), "Add");
    await row(other, "Mia").waitFor();
    await expectSoon(() => third.evaluate("Object.keys(localStorage)"), ["apiKey /shop/window"]);
    // A browser that is not used for days comes back with its key, but not if it had not the box.
    await third.reload();
    await row(third, "Mia").waitFor();
    await setLastUse(third, 100);
    await third.reload();
    await key(third).waitFor();
  },
);

testInBrowser(
  "a refused key is asked for in its tab, and signs no other tab out",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const { id, token } = await issueApiKey(service, { label: "old" });
    const page = await open("/window");
    await enterKey(page, token);
    await row(page, "Rex").waitFor();
    const other = await open("/window", { beside: page });
    await press(other, "Add an animal");
    await fill(other.getByRole("dialog"), "Mia", "7");
    // A proxy refuses what one tab asks.
    let isRefused = true;
    network.fetch = async (request) => {
      if (!isRefused || !request.url.includes("limit=100&q=zoe")) {
        return await service.fetch(request);
      }
      isRefused = false;
      return Response.json({ status: 401, message: "It is refused" }, { status: 401 });
    };
    await page.getByRole("searchbox").fill("zoe");
    await page.getByText("It is refused").waitFor();
    await press(other.getByRole("dialog"), "Add");
    await row(other, "Mia").waitFor();
    // The key has really ended. The service calls it an API key.
    await revokeApiKey(service, id);
    await page.reload();
    await page.getByText(/access key is .*revoked/).waitFor();
    await enterKey(page, service.token);
    await page.getByText(/^No animals/).waitFor();
    await row(other, "Mia").waitFor();
    await expectSoon(() => placesOf(page, service.token), [true, false, false, false]);
  },
);

testInBrowser(
  "a browser that keeps nothing shows the store for this visit, and says so",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/openapi.json");
    const refuse = "get() { throw new DOMException('Denied', 'SecurityError'); }";
    for (const name of ["localStorage", "sessionStorage"]) {
      await page.addInitScript(`Object.defineProperty(window, "${name}", { ${refuse} })`);
    }
    await page.goto(new URL("window", page.url()).href);
    await page.getByText(/^This browser keeps nothing for this page/).waitFor();
    assertEquals(await stay(page).count(), 0);
    await enterKey(page, service.token);
    await row(page, "Rex").waitFor();
    await press(page, "Remove Rex");
    await toast(page, "Rex was removed").waitFor();
    await signOut(page);
    await key(page).waitFor();
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

testInBrowser(
  "after sign-in, the focus is on the list, or on the heading of another page",
  async ({ service, open }) => {
    const page = await open("/window");
    await enterKey(page, service.token);
    await expectFocus(page.getByRole("heading", { name: "No animals yet" }));
    await service.add({ name: "Rex", categoryId: 7 });
    await row(page, "Rex").waitFor();
    await expectFocus(linkOf(page, "Rex"));
    const other = await open("/window");
    await enterKey(other, service.token);
    await row(other, "Rex").waitFor();
    await expectFocus(tab(other, "All 1"));
    for (
      const [path, name] of [["page=categories", "Categories"], ["page=activity", "Activity"], [
        "animal=1",
        "Rex",
      ]]
    ) {
      const elsewhere = await open(`/window?${path}`);
      await enterKey(elsewhere, service.token);
      await expectFocus(elsewhere.getByRole("heading", { name, exact: true }));
    }
  },
);

testInBrowser(
  "typed text outlives that somebody signs out in another tab, until somebody signs in again",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/window");
    await enterKey(page, service.token);
    await row(page, "Rex").waitFor();
    const other = await open("/window", { beside: page });
    await press(other, "Add an animal");
    await fill(other.getByRole("dialog"), "Mia", "7");
    await signOut(page);
    await key(page).waitFor();
    await other.getByText(/^You signed out in another tab/).waitFor();
    await expectSoon(() => placesOf(other, service.token), [false, false, false, false]);
    await enterKey(page, service.token);
    await key(other).waitFor({ state: "hidden" });
    await expectSoon(() => other.getByRole("dialog").getByLabel("Name").inputValue(), "Mia");
    await press(other.getByRole("dialog"), "Add");
    for (const it of [page, other]) await row(it, "Mia").waitFor();
    // Without typed text, nothing of the store stays.
    await signOut(page);
    await key(other).waitFor();
    assertEquals(await row(other, "Mia").count(), 0);
  },
);
