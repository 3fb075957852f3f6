/** The way back from a mistake: Undo in the message about what was done. */

import { assert, assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectFocus,
  fill,
  focusOn,
  linkOf,
  pickStatus,
  press,
  row,
  statusText,
  tab,
  toast,
} from "../support/window_controls.ts";

const isBatch = ({ url }: Request) => url.endsWith("/pets/batch");

testInBrowser(
  "Undo gives the animal back what it had, unless somebody else has changed it since",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const conditions: (string | null)[] = [];
    network.fetch = async (request) => {
      if (request.method === "PATCH") conditions.push(request.headers.get("if-match"));
      if (isBatch(request)) {
        const { operations: [{ expected }] } = await request.clone().json();
        conditions.push(expected.status);
      }
      return await service.fetch(request);
    };
    await pickStatus(page, "Rex", "Sold");
    await press(toast(page, "Rex was sold"), "Undo");
    await toast(page, "Undone: Rex has its old status again").waitFor();
    await expectSoon(() => statusText(page, "Rex"), "No status");
    assertEquals(new Set(conditions).size, 2);
    assert(!conditions.includes(null));
    // All fields of an edit come back at once, here by the key.
    await press(page, "Edit Rex");
    await fill(page.getByRole("dialog"), "Max", "9");
    await page.keyboard.press("Enter");
    await toast(page, "Rex was renamed Max and moved to category 9").waitFor();
    await row(page, "Max").waitFor();
    await page.keyboard.press("Control+z");
    await toast(page, "Undone: Rex has its old name and category again").waitFor();
    await row(page, "Rex").filter({ hasText: "7" }).waitFor();
    await pickStatus(page, "Rex", "Sold");
    await toast(page, "Rex was sold").waitFor();
    await service.change(1, { status: "pending" });
    await press(toast(page, "Rex was sold"), "Undo");
    const dialog = page.getByRole("dialog").filter({ hasText: "1 animal was not changed back" });
    await dialog.getByText("Somebody else changed it meanwhile").waitFor();
    await press(dialog, "Close");
    await expectSoon(() => statusText(page, "Rex"), "Pending");
  },
);

testInBrowser(
  "Undo of a removal brings the animal back with its id and history",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: Number.MAX_SAFE_INTEGER, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Remove Rex");
    await press(toast(page, "Rex was removed"), "Undo");
    // Pointed at, the message stays.
    const words = "Undone: Rex is back";
    await toast(page, words).hover();
    await row(page, "Rex").filter({ hasText: String(Number.MAX_SAFE_INTEGER) }).waitFor();
    await expectSoon(() => statusText(page, "Rex"), "Sold");
    await toast(page, words).getByRole("link", { name: "Rex" }).click();
    await page.getByRole("heading", { name: "Rex" }).waitFor();
    const sentences = page.locator(".history b");
    await expectSoon(() => sentences.allInnerTexts(), ["Restored", "Removed", "Added"]);
    assertEquals(await service.listIds(), [1]);
  },
);

testInBrowser(
  "after Undo, the focus is on the row that came back or was changed",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia", "Zoe"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await pickStatus(page, "Rex", "Sold");
    await press(toast(page, "Rex was sold"), "Undo");
    await expectFocus(linkOf(page, "Rex"));
    // The list is empty meanwhile.
    await page.getByRole("searchbox").fill("mia");
    await row(page, "Zoe").waitFor({ state: "hidden" });
    await focusOn(button(page, "Remove Mia"));
    await page.keyboard.press("Enter");
    await focusOn(button(toast(page, "Mia was removed"), "Undo"));
    await page.keyboard.press("Enter");
    await expectFocus(linkOf(page, "Mia"));
    await press(page, "Remove Mia");
    await toast(page, "Mia was removed").waitFor();
    await page.keyboard.press("Control+z");
    await expectFocus(linkOf(page, "Mia"));
    // Who types meanwhile is not disturbed.
    await press(page, "Remove Mia");
    const message = toast(page, "Mia was removed");
    await message.waitFor();
    await page.getByRole("searchbox").fill("mi");
    await button(message, "Undo").evaluate((it: Page) => it.click());
    await row(page, "Mia").waitFor();
    await toast(page, "Undone: Mia is back").waitFor();
    await expectFocus(page.getByRole("searchbox"));
  },
);

testInBrowser(
  "the key undoes the last action, and then the one before it",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    for (const name of ["Rex", "Mia"]) {
      await press(page, `Remove ${name}`);
      await toast(page, `${name} was removed`).waitFor();
    }
    await page.keyboard.press("Control+z");
    await toast(page, "Undone: Mia is back").waitFor();
    await page.keyboard.press("Control+z");
    await toast(page, "Undone: Rex is back").waitFor();
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
    await expectSoon(() => service.listIds(), [2, 1]);
  },
);

testInBrowser(
  "a change of an animal that was removed since has no Undo until the animal is back",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await pickStatus(page, "Rex", "Pending");
    const pending = toast(page, "Rex became pending");
    // Focused, the message stays.
    await focusOn(button(pending, "Undo"));
    await service.remove(1);
    await button(pending, "Undo").waitFor({ state: "hidden" });
    await expectFocus(linkOf(page, "Mia"));
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
    // After the undo of the removal, the change before it can be undone.
    await pickStatus(page, "Mia", "Sold");
    await toast(page, "Mia was sold").waitFor();
    await press(page, "Remove Mia");
    await press(toast(page, "Mia was removed"), "Undo");
    await toast(page, "Undone: Mia is back").waitFor();
    await page.keyboard.press("Control+z");
    await toast(page, "Undone: Mia has its old status again").waitFor();
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
  },
);

testInBrowser(
  "Undo is there for 8 seconds, and waits while it is pointed at or focused",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    await page.clock.install();
    // The time of the page passes only when the test says so.
    await page.clock.pauseAt(Date.now() + 60_000);
    const message = toast(page, "Rex was sold");
    await pickStatus(page, "Rex", "Sold");
    await message.waitFor();
    await message.hover();
    await page.clock.runFor(20_000);
    await expectSoon(() => message.count(), 1);
    await page.mouse.move(0, 0);
    await focusOn(button(message, "Undo"));
    await page.clock.runFor(20_000);
    await expectSoon(() => message.count(), 1);
    await focusOn(row(page, "Rex").getByRole("link"));
    await page.clock.runFor(9_000);
    await message.waitFor({ state: "hidden" });
    await pickStatus(page, "Rex", "Pending");
    const other = toast(page, "Rex became pending");
    await other.waitFor();
    await page.mouse.move(0, 0);
    await page.clock.runFor(7_000);
    await expectSoon(() => other.count(), 1);
    // A message without Undo disappears after 4 seconds.
    await press(other, "Undo");
    const last = toast(page, "Undone: Rex is sold again");
    await last.waitFor();
    await page.mouse.move(0, 0);
    await page.clock.runFor(3_000);
    await expectSoon(() => last.count(), 1);
    await page.clock.runFor(2_000);
    await last.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
    await expectSoon(() => statusText(page, "Rex"), "Sold");
  },
);

testInBrowser(
  "a message with Undo comes when the animal is free again, so that no Undo is refused",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const { promise: mayRead, resolve } = Promise.withResolvers<void>();
    let isWritten = false;
    network.fetch = async (request) => {
      const isRead = request.method === "GET" && request.url.includes("ids=");
      if (isRead && isWritten) await mayRead;
      const response = await service.fetch(request);
      isWritten ||= request.method === "DELETE";
      return response;
    };
    await press(page, "Remove Rex");
    await until(() => isWritten);
    await row(page, "Rex").waitFor({ state: "hidden" });
    assertEquals(await button(page, "Undo").count(), 0);
    resolve();
    await press(page, "Undo");
    await toast(page, "Undone: Rex is back").waitFor();
  },
);

testInBrowser(
  "so does the message about several animals",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const { promise: mayRead, resolve } = Promise.withResolvers<void>();
    let removed = 0;
    network.fetch = async (request) => {
      const isRead = request.method === "GET" && request.url.includes("ids=");
      if (isRead && removed === 1) await mayRead;
      const response = await service.fetch(request);
      if (isBatch(request)) removed++;
      return response;
    };
    for (const name of ["Rex", "Mia"]) await page.getByLabel(`Select ${name}`).check();
    await press(page, "Remove");
    await press(page.getByRole("dialog"), "Remove");
    await until(() => removed === 1);
    await row(page, "Rex").waitFor({ state: "hidden" });
    assertEquals(await button(page, "Undo").count(), 0);
    resolve();
    await press(page, "Undo");
    await toast(page, "Undone: 2 animals are back").waitFor();
  },
);

testInBrowser(
  "outside of a text, no key undoes or repeats what was typed before",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const search = page.getByRole("searchbox");
    await row(page, "Rex").waitFor();
    await search.pressSequentially("rex");
    await focusOn(linkOf(page, "Rex"));
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
    assertEquals(await search.inputValue(), "rex");
    // Nor while a menu or a dialog is open.
    await press(page, /^Access key/);
    await page.keyboard.press("Control+z");
    assertEquals(await search.inputValue(), "rex");
    await press(page, "Keyboard shortcuts");
    await page.keyboard.press("Control+z");
    await press(page.getByRole("dialog"), "Close");
    assertEquals(await search.inputValue(), "rex");
    // In the text, it is the browser's.
    await focusOn(search);
    await page.keyboard.press("Control+z");
    await expectSoon(() => search.inputValue(), "");
    await focusOn(linkOf(page, "Rex"));
    for (const key of ["Control+Shift+z", "Control+y"]) await page.keyboard.press(key);
    assertEquals(await search.inputValue(), "");
  },
);

testInBrowser(
  "the message about a removal goes when the animals are back, whoever has restored them",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const message = toast(page, "Rex was removed");
    const remove = async () => {
      await press(page, "Remove Rex");
      // Focused, the message stays.
      await focusOn(button(message, "Undo"));
    };
    await remove();
    await service.restore(1);
    await row(page, "Rex").waitFor();
    await message.waitFor({ state: "hidden" });
    await remove();
    await tab(page, "Removed 1").click();
    await press(page, "Restore Rex");
    await toast(page, "Rex was restored").waitFor();
    assertEquals(await message.count(), 0);
    await tab(page, "All 2").click();
    for (const name of ["Rex", "Mia"]) await page.getByLabel(`Select ${name}`).check();
    await press(page, "Remove");
    await press(page.getByRole("dialog"), "Remove");
    const ofSeveral = toast(page, "2 animals were removed");
    await focusOn(button(ofSeveral, "Undo"));
    await service.restore(1);
    await row(page, "Rex").waitFor();
    assertEquals(await ofSeveral.count(), 1);
    await service.restore(2);
    await ofSeveral.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+z");
    await toast(page, "Nothing to undo").waitFor();
  },
);
