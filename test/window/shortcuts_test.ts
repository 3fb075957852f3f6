/** The keys that work anywhere. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectFocus,
  focusOn,
  linkOf,
  press,
  row,
  toast,
} from "../support/window_controls.ts";

testInBrowser(
  "the keys /, n and ? work outside of fields and dialogs",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const search = page.getByLabel("Search by name, note or id");
    await row(page, "Rex").waitFor();
    await page.keyboard.press("/");
    await expectFocus(search);
    await page.keyboard.type("n?/");
    await expectSoon(() => search.inputValue(), "n?/");
    assertEquals(await dialog.count(), 0);
    await search.fill("");
    await row(page, "Rex").waitFor();
    await focusOn(page.getByRole("checkbox", { name: "Select Rex" }));
    await page.keyboard.press("?");
    await dialog.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    const keys: string[] = await dialog.locator("kbd").allTextContents();
    const used = [
      "/",
      "n",
      "e",
      "Delete",
      "?",
      "↑",
      "↓",
      "←",
      "→",
      "PgUp",
      "PgDn",
      "Home",
      "End",
      "Space",
    ];
    assertEquals(keys.flatMap((text) => text.split(" ")), [
      ...used,
      "Shift+↑",
      "↓",
      "Ctrl+A",
      "Ctrl+P",
      "Enter",
      "Ctrl+Enter",
      "Ctrl+Z",
      "Esc",
    ]);
    await page.keyboard.press("n");
    await expectSoon(() => dialog.count(), 1);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("n");
    await dialog.getByRole("heading", { name: "Add an animal" }).waitFor();
    await expectFocus(dialog.getByLabel("Name"));
    await press(dialog, "Cancel");
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const reader = await open(`/window#key=${token}`);
    await row(reader, "Rex").waitFor();
    await reader.getByText("Read only", { exact: true }).waitFor();
    await reader.keyboard.press("n");
    await reader.keyboard.press("?");
    await reader.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    await expectSoon(() => reader.getByRole("dialog").count(), 1);
    assertEquals(await button(reader, "Add an animal").count(), 0);
  },
);

testInBrowser(
  "shortcuts are at their places on a keyboard without Latin letters, also with Caps Lock",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const pressed = (options: object) =>
      page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", ${
          JSON.stringify({ bubbles: true, ...options })
        }))`,
      );
    await row(page, "Rex").waitFor();
    // N and Z of Russian, Greek and Hebrew keyboards, and with Caps Lock.
    const additions = [["т", "KeyN"], ["ν", "KeyN"], ["מ", "KeyN"], ["N", "KeyN"]];
    for (const [key, code] of additions) {
      await pressed({ key, code });
      await dialog.getByLabel("Name").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
    }
    // E of a Russian keyboard.
    await focusOn(linkOf(page, "Rex"));
    await pressed({ key: "у", code: "KeyE" });
    await dialog.getByRole("heading", { name: "Edit Rex" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    const undos = [["я", "KeyZ"], ["ζ", "KeyZ"], ["ז", "KeyZ"], ["Z", "KeyZ"], ["z", "KeyY"]];
    for (const [key, code] of undos) {
      await press(page, "Remove Rex");
      await toast(page, "Rex was removed").waitFor();
      await pressed({ key, code, ctrlKey: true });
      await row(page, "Rex").waitFor();
    }
  },
);

testInBrowser(
  "e edits the animal in whose row the focus is or whose page is shown, and Delete removes it, or asks about the selected ones",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia", "Zoe", "Max"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const search = page.getByRole("searchbox");
    await row(page, "Rex").waitFor();
    // Nothing has the focus, a text has it, or the key is another one.
    for (const key of ["e", "Delete"]) await page.keyboard.press(key);
    await focusOn(search);
    for (const key of ["e", "Delete"]) await page.keyboard.press(key);
    await expectSoon(() => search.inputValue(), "e");
    await search.fill("");
    await row(page, "Max").waitFor();
    await focusOn(linkOf(page, "Mia"));
    for (const key of ["Shift+E", "Shift+Delete", "Alt+e", "Control+Delete"]) {
      await page.keyboard.press(key);
    }
    await page.keyboard.press("e");
    await dialog.getByRole("heading", { name: "Edit Mia" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await expectFocus(linkOf(page, "Mia"));
    await page.keyboard.press("Delete");
    await toast(page, "Mia was removed").waitFor();
    await expectFocus(linkOf(page, "Rex"));
    await expectSoon(() => service.listIds(), [4, 3, 1]);
    await page.keyboard.press("Control+z");
    await row(page, "Mia").waitFor();
    // A key that is held removes one animal.
    await focusOn(linkOf(page, "Max"));
    await page.keyboard.down("Delete");
    await toast(page, "Max was removed").waitFor();
    await expectFocus(linkOf(page, "Zoe"));
    for (let count = 0; count < 3; count++) await page.keyboard.down("Delete");
    await page.keyboard.up("Delete");
    // The selected ones, wherever the focus is.
    for (const name of ["Zoe", "Mia"]) await page.getByLabel(`Select ${name}`).check();
    await focusOn(linkOf(page, "Rex"));
    await page.keyboard.press("Delete");
    await dialog.getByRole("heading", { name: "Remove 2 animals?" }).waitFor();
    await press(dialog, "Remove");
    await toast(page, "2 animals were removed").waitFor();
    await expectSoon(() => service.listIds(), [1]);
    // On the page of an animal, this is meant. A removed one has neither.
    await linkOf(page, "Rex").click();
    await page.keyboard.press("e");
    await dialog.getByRole("heading", { name: "Edit Rex" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("Delete");
    await toast(page, "Rex was removed").waitFor();
    for (const key of ["e", "Delete"]) await page.keyboard.press(key);
    await expectSoon(() => dialog.count(), 0);
    await page.keyboard.press("Control+z");
    await expectSoon(() => service.listIds(), [1]);
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const reader = await open(`/window#key=${token}`);
    await reader.getByText("Read only", { exact: true }).waitFor();
    await focusOn(linkOf(reader, "Rex"));
    for (const key of ["e", "Delete", "?"]) await reader.keyboard.press(key);
    await reader.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    await expectSoon(() => reader.getByRole("dialog").count(), 1);
    assertEquals(await service.listIds(), [1]);
  },
);
