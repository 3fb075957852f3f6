/** Lists of choices: the keys are those that people know, and every list of the page is of the same kind. */

import { assert, assertEquals } from "@std/assert";
import { expectSoon } from "../support/expect_soon.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  pickFrom,
  press,
  row,
  toast,
} from "../support/window_controls.ts";

const option = (page: Page, name: string | RegExp) => page.getByRole("option", { name });

/** The choice on which the keys of a control are. */
async function active(page: Page, control: Page): Promise<string> {
  const id = await control.getAttribute("aria-activedescendant");
  return await page.locator(`[id="${id}"]`).innerText();
}

testInBrowser(
  "a select has the keys that people know: arrows, letters, Home and End, Enter and Space, Escape",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Add an animal");
    const dialog = page.getByRole("dialog");
    const status = dialog.getByRole("combobox", { name: "Status" });
    const list = page.getByRole("listbox");
    await expectSoon(() => status.innerText(), "Available");
    await status.focus();
    for (const key of ["ArrowDown", "Enter", " "]) {
      await page.keyboard.press(key);
      await list.waitFor();
      await expectSoon(() => active(page, status), "Available");
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      await expectFocus(status);
    }
    await page.keyboard.press("ArrowUp");
    const steps = [["s", "Sold"], ["p", "Pending"], ["End", "No status"], ["Home", "Available"]];
    for (const [key, choice] of steps) {
      await page.keyboard.press(key);
      await expectSoon(() => active(page, status), choice);
    }
    // A letter that no choice begins with goes nowhere.
    await page.keyboard.press("x");
    await expectSoon(() => active(page, status), "Available");
    await expectAccessible(page, "open select");
    await page.keyboard.press("s");
    // A key that is held repeats its press, and chooses once.
    for (let count = 0; count < 3; count++) await page.keyboard.down(" ");
    await page.keyboard.up(" ");
    await list.waitFor({ state: "hidden" });
    await expectSoon(() => status.innerText(), "Sold");
    await expectSoon(() => status.getAttribute("aria-expanded"), "false");
    await pickFrom(dialog, "Status", "Pending");
    await expectSoon(() => status.innerText(), "Pending");
    await expectFocus(status);
    await dialog.getByLabel("Category").fill("7");
    await dialog.getByLabel("Name").fill("Rex");
    await page.keyboard.press("Enter");
    await row(page, "Rex").filter({ hasText: "Pending" }).waitFor();
  },
);

testInBrowser(
  "the active choice stays the same one while the list changes, and below a pointer that rests",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Parrots");
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Add an animal");
    const field = page.getByRole("dialog").getByRole("combobox", { name: "Category" });
    const composing = { key: "Enter", bubbles: true, isComposing: true };
    await field.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expectSoon(() => active(page, field), "Parrots");
    await service.nameCategory(9n, "Cats");
    await expectSoon(() => page.getByRole("option").count(), 3);
    await expectSoon(() => active(page, field), "Parrots");
    await page.keyboard.press("Enter");
    await expectSoon(() => field.inputValue(), "Parrots");
    // A pointer that moves chooses. One that rests does not, whatever comes below it.
    await field.click();
    await option(page, "Dogs").hover();
    await expectSoon(() => active(page, field), "Dogs");
    await field.fill("");
    await field.pressSequentially("a");
    await expectSoon(() => page.getByRole("option").allInnerTexts(), [
      "Cats",
      "Parrots",
      "Add a category “a”",
    ]);
    await service.nameCategory(6n, "Antelopes");
    await option(page, "Antelopes").waitFor();
    // Some browsers send such an event then.
    await option(page, "Parrots").dispatchEvent("pointermove", { movementX: 0, movementY: 0 });
    await expectSoon(() => active(page, field), "Cats");
    // An input method has its keys for itself.
    await field.dispatchEvent("keydown", composing);
    await expectSoon(() => active(page, field), "Cats");
    await page.keyboard.press("Tab");
    await expectSoon(() => field.inputValue(), "Cats");
  },
);

testInBrowser(
  "letters choose a status for selected animals, and no animal loses its status by Enter alone",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "pending" });
    const page = await open(`/window#key=${service.token}`);
    await page.getByRole("checkbox", { name: "Select Rex" }).click();
    const mark = page.getByRole("combobox", { name: "Mark as" });
    await mark.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("listbox").waitFor();
    await expectSoon(() => active(page, mark), "Available");
    await page.keyboard.press("s");
    await page.keyboard.press("Enter");
    await toast(page, "1 animal was sold").waitFor();
    // The way back is the next stop of the Tab key, before the activity.
    await page.getByRole("group", { name: "Selected animals" }).getByRole("button", {
      name: "Clear",
    }).focus();
    await page.keyboard.press("Tab");
    await expectFocus(button(page, "Undo"));
  },
);

testInBrowser(
  "no control of the page is one of the system, and a list is as wide as its control",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    const dialog = page.getByRole("dialog");
    await press(page, "Add an animal");
    for (const name of ["Status", "Category"]) {
      if (name === "Category") await service.nameCategory(7n, "Dogs");
      const control = dialog.getByRole("combobox", { name });
      await until(async () => {
        await control.click();
        await page.getByRole("listbox").waitFor({ timeout: 1_000 });
      });
      const [box, list] = await Promise.all([
        control.boundingBox(),
        page.getByRole("listbox").boundingBox(),
      ]);
      assert(list.width >= box.width, name);
      assert(list.x >= 0 && list.x + list.width <= 390, name);
      assertEquals(await page.locator("select").count(), 0);
      await page.keyboard.press("Escape");
    }
    await press(dialog, "Cancel");
    await press(page, "Import");
    const buffer = new TextEncoder().encode("name,category,\u202Ekind\nRex,7,x\n");
    await page.getByLabel("File").evaluate(setFile, [...buffer]);
    await button(dialog, "Import 1 animal").waitFor();
    assertEquals(await page.locator("select").count(), 0);
    await dialog.getByText("Columns and encoding").click();
    await pickFrom(dialog, "Encoding", "Western European (Windows-1252)");
    await button(dialog, "Import 1 animal").waitFor();
    await dialog.getByRole("combobox", { name: "Name" }).click();
    await page.getByRole("listbox").waitFor();
    await expectAccessible(page, "columns of an import");
    await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), 390);
  },
);

/** Gives a file to an input, as a person who chooses it. It runs in the page. */
function setFile(input: Page, bytes: number[]): void {
  const page = globalThis as Page;
  const transfer = new page.DataTransfer();
  transfer.items.add(new page.File([new Uint8Array(bytes)], "animals.csv"));
  input.files = transfer.files;
  input.dispatchEvent(new page.Event("change", { bubbles: true }));
}

testInBrowser(
  "a new category is added where an animal needs it, and the form keeps what was typed",
  async ({ service, open }) => {
    // An animal of a category without a name does not become one of the new category.
    await service.add({ name: "Max", categoryId: 1 });
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Add an animal");
    const form = page.getByRole("dialog").filter({ hasText: "Add an animal" });
    await form.getByLabel("Name").fill("Rex");
    await form.getByLabel("Category").pressSequentially("Dogs");
    await option(page, "Add a category “Dogs”").waitFor();
    // Tab only leaves the field.
    await page.keyboard.press("Tab");
    await expectSoon(() => form.getByLabel("Category").inputValue(), "Dogs");
    await form.getByLabel("Category").fill("Dogs");
    await option(page, "Add a category “Dogs”").waitFor();
    await page.keyboard.press("Enter");
    const question = page.getByRole("dialog").filter({ hasText: "Add a category" });
    await expectSoon(() => question.getByLabel("Name").inputValue(), "Dogs");
    await press(question, "Add");
    await question.waitFor({ state: "hidden" });
    await expectSoon(() => form.getByLabel("Category").inputValue(), "Dogs");
    await expectFocus(form.getByLabel("Category"));
    await expectSoon(() => form.getByLabel("Name").inputValue(), "Rex");
    await press(form, "Add");
    await row(page, "Rex").filter({ hasText: "Dogs" }).waitFor();
    assertEquals(await service.listCategories(), [{ id: 2n, name: "Dogs" }]);
    // The filter makes nothing, and a known name or a number is nothing new.
    await page.getByLabel("Filter by category").pressSequentially("Cats");
    await expectSoon(() => page.getByRole("option").count(), 0);
    await press(page, "Add an animal");
    // The beginning of "Category 1" may be that of a name.
    const field = form.getByLabel("Category");
    await field.fill("Cat");
    await option(page, "Category 1").waitFor();
    await expectSoon(() => active(page, field), "Add a category “Cat”");
    for (const text of ["category 1", "1"]) {
      await field.fill(text);
      await expectSoon(() => active(page, field), "Category 1");
    }
    await page.keyboard.press("Enter");
    await expectSoon(() => field.inputValue(), "Category 1");
    for (const text of ["dogs", "12", "7.0"]) {
      await form.getByLabel("Category").fill(text);
      assertEquals(await option(page, /Add a category/).count(), 0, text);
    }
  },
);
