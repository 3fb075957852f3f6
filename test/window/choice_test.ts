/** Lists of choices: the keys are those that people know, and every list of the page is of the same kind. */

import { assertEquals } from "@std/assert";
import { expectSoon } from "../support/expect_soon.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { button, expectFocus, focusOn, press, row, toast } from "../support/window_controls.ts";

const option = (page: Page, name?: string | RegExp) =>
  page.getByRole("listbox").getByRole("option", name === undefined ? {} : { name });

/** The choice on which the keys of a control are. */
async function active(page: Page, control: Page): Promise<string> {
  const id = await control.getAttribute("aria-activedescendant");
  return await page.locator(`[id="${id}"]`).innerText();
}

testInBrowser(
  "the active choice stays the same one while the list changes, and below a pointer that rests",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Parrots");
    const page = await open(`/window#key=${service.token}`);
    await press(page, "Add an animal");
    const field = page.getByRole("dialog").getByRole("combobox", { name: "Category" });
    const composing = { key: "Enter", bubbles: true, isComposing: true };
    await focusOn(field);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expectSoon(() => active(page, field), "Parrots");
    await service.nameCategory(9n, "Cats");
    await expectSoon(() => option(page).count(), 3);
    await expectSoon(() => active(page, field), "Parrots");
    await page.keyboard.press("Enter");
    await expectSoon(() => field.inputValue(), "Parrots");
    // A pointer that moves chooses. One that rests does not, whatever comes below it.
    await field.click();
    await option(page, "Dogs").hover();
    await expectSoon(() => active(page, field), "Dogs");
    await field.fill("");
    await field.pressSequentially("a");
    await expectSoon(() => option(page).allInnerTexts(), [
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
    // Tab only leaves the field, because the name may be mistyped.
    await page.keyboard.press("Tab");
    const fault = form.getByText("There is no category “Dogs”");
    await fault.waitFor();
    await press(form, "Add");
    await expectFocus(form.getByLabel("Category"));
    await page.keyboard.press("Tab");
    await expectFocus(button(form, "Add the category “Dogs”"));
    await page.keyboard.press("Enter");
    await form.getByText("A new category, which is added with the animal").waitFor();
    await expectFocus(form.getByLabel("Category"));
    await fault.waitFor({ state: "hidden" });
    // The fault of a field that is left by a click moves nothing away from the click.
    await form.getByLabel("Category").fill("Dog");
    await page.keyboard.press("Escape");
    await press(form, "Cancel");
    await press(page.getByRole("dialog").filter({ hasText: "Discard" }), "Keep typing");
    await form.getByText("There is no category “Dog”").waitFor();
    await form.getByLabel("Category").fill("Dogs");
    await fault.waitFor();
    await page.keyboard.press("ArrowDown");
    await option(page, "Add a category “Dogs”").waitFor();
    await page.keyboard.press("Enter");
    await form.getByText("A new category, which is added with the animal").waitFor();
    await expectSoon(() => form.getByLabel("Category").inputValue(), "Dogs");
    await form.getByText("There is no category “Dogs”").waitFor({ state: "hidden" });
    await expectSoon(() => form.getByLabel("Name").inputValue(), "Rex");
    assertEquals(await service.listCategories(), []);
    await press(form, "Add");
    await row(page, "Rex").filter({ hasText: "Dogs" }).waitFor();
    assertEquals(await service.listCategories(), [{ id: 2n, name: "Dogs" }]);
    // A name that no category can have is refused at the field. Another text is no new category.
    await press(page, "Edit Max");
    const edit = page.getByRole("dialog").filter({ hasText: "Edit Max" });
    await edit.getByLabel("Category").pressSequentially("x".repeat(101));
    await option(page, /Add a category/).click();
    await press(edit, "Save");
    await edit.getByText("Name has more than 100 characters").waitFor();
    await edit.getByLabel("Category").fill("Dogs");
    await edit.getByText("A new category").waitFor({ state: "hidden" });
    await page.keyboard.press("Enter");
    await press(edit, "Save");
    await toast(page, "Max moved to Dogs").waitFor();
    assertEquals(await service.listCategories(), [{ id: 2n, name: "Dogs" }]);
    // The filter makes nothing, and a known name or a number is nothing new.
    await page.getByLabel("Filter by category").pressSequentially("Cats");
    await expectSoon(() => option(page).count(), 0);
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

testInBrowser(
  "a menu that a key opens takes the focus, the arrows move in it, and Escape returns to its button",
  async ({ service, open }) => {
    for (let id = 1; id <= 60; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    for (const [width, name] of [[390, "Pet 60"], [1280, "Pet 59"]] as const) {
      const page = await open(`/window#key=${service.token}`, { width });
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await focusOn(page.getByRole("checkbox", { name: `Select ${name}` }));
      await press("Space");
      const scrolled = await page.evaluate("scrollY");
      const marks = page.getByRole("group", { name: "Mark as" });
      await focusOn(button(page, "Mark as"));
      await press("Enter");
      await expectFocus(button(marks, "Available"));
      await press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown");
      await expectFocus(button(marks, "No status"));
      await press("ArrowUp");
      await expectFocus(button(marks, "Sold"));
      await press("Home");
      await expectFocus(button(marks, "Available"));
      await press("End", "Escape");
      await marks.waitFor({ state: "hidden" });
      await expectFocus(button(page, "Mark as"));
      // The pointer opens it without a move of the focus, and the arrows go into it.
      await button(page, "Mark as").click();
      await press("ArrowDown", "ArrowDown");
      await expectFocus(button(marks, "Pending"));
      await press("Enter");
      await toast(page, "1 animal became pending").waitFor();
      await focusOn(button(page, /^Access key/));
      await press("Space");
      await expectFocus(button(page, "Keyboard shortcuts"));
      await press("ArrowDown", "ArrowDown");
      await expectFocus(button(page, "Sign out"));
      await press("Escape");
      await expectFocus(button(page, /^Access key/));
      assertEquals(await page.evaluate("scrollY"), scrolled);
      if (width === 390) {
        const more = button(page, "Filters and more");
        await focusOn(more);
        await press("Enter");
        const field = page.getByLabel("Filter by category");
        await expectFocus(field);
        // In the field, the arrows open its list.
        await press("ArrowDown");
        await page.getByRole("listbox").waitFor();
        await press("Escape", "Tab", "ArrowDown");
        await expectFocus(button(page, "Import"));
        await press("ArrowUp", "ArrowUp");
        await expectFocus(field);
        await press("Escape");
        await expectFocus(more);
      }
      await page.context().close();
    }
  },
);
