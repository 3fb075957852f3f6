/** A whole day with the keyboard alone. */

import { assert, assertEquals } from "@std/assert";
import { expectSoon } from "../support/expect_soon.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import {
  button,
  expectFocus,
  hasFocus,
  linkOf,
  row,
  ROWS,
  statusText,
  toast,
} from "../support/window_controls.ts";

/** More than a list that is not filtered has on the screen and below it. */
const PRESSES_MAX = 60;

/** Presses Tab until the target has the focus, which is always visible. */
async function reach(page: Page, target: Page): Promise<void> {
  for (let presses = 0; !await hasFocus(target); presses++) {
    assert(presses < PRESSES_MAX, `the Tab key does not reach ${target}`);
    await page.keyboard.press("Tab");
    const isLost = await page.evaluate("document.activeElement === document.body");
    const { outlineWidth } = isLost ? { outlineWidth: "" } : await page.evaluate(
      "(({ outlineWidth }) => ({ outlineWidth }))(getComputedStyle(document.activeElement))",
    );
    assert(isLost || outlineWidth === "2px" || await hasFocus(page.locator(".title")), "no ring");
  }
}

testInBrowser(
  "the keyboard alone signs in, adds, edits, sells, selects, marks, undoes, removes and names",
  async ({ service, open }) => {
    for (let id = 1; id <= 130; id++) {
      await service.add({ name: `Pet ${id}`, categoryId: 7, status: "available" });
    }
    const page = await open("/window");
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const type = (text: string) => page.keyboard.type(text);
    const dialog = page.getByRole("dialog");
    // Signs in.
    await page.getByLabel("Access key").waitFor();
    await expectFocus(page.getByLabel("Access key"));
    await type("wrong");
    await press("Enter");
    await page.getByText("This access key is not valid").waitFor();
    await expectFocus(page.getByLabel("Access key"));
    // The wrong text is selected, so that typing replaces it.
    await type(service.token);
    await press("Enter");
    await row(page, "Pet 130").waitFor();
    await page.getByRole("button", { name: /^Access key/ }).waitFor();
    // Names a category.
    await reach(page, page.getByRole("link", { name: "Categories" }));
    await press("Enter");
    await reach(page, button(page, "Add a category"));
    await press("Enter");
    await expectFocus(dialog.getByLabel("Name"));
    await type("Dogs");
    await press("Enter");
    await page.getByRole("cell", { name: "Dogs", exact: true }).waitFor();
    await expectFocus(button(page, "Add a category"));
    await reach(page, page.getByRole("link", { name: "All animals" }));
    await press("Enter");
    await row(page, "Pet 130").waitFor();
    // Adds an animal.
    await press("n");
    await expectFocus(dialog.getByLabel("Name"));
    await type("Rex");
    await press("Tab");
    await type("dog");
    await page.getByRole("option", { name: "Dogs" }).waitFor();
    await press("Enter", "Tab", "ArrowDown", "p", "Enter");
    await reach(page, button(dialog, "Add"));
    await press("Enter");
    await row(page, "Rex").filter({ hasText: "Dogs" }).filter({ hasText: "Pending" }).waitFor();
    // Edits it, and sells it.
    await reach(page, page.locator(`${ROWS} [tabindex="0"]`));
    await press("Home");
    await expectFocus(linkOf(page, "Rex"));
    await press("ArrowRight", "ArrowRight", "Enter");
    await expectFocus(dialog.getByLabel("Name"));
    await press("End");
    await type(" II");
    await press("Enter");
    await toast(page, "Rex was renamed Rex II").waitFor();
    await expectFocus(button(page, "Edit Rex II"));
    await press("ArrowLeft", "Enter", "s", "Enter");
    await toast(page, "Rex II was sold").waitFor();
    await expectSoon(() => statusText(page, "Rex II"), "Sold");
    // Selects a range, marks it, and takes that back.
    await press("ArrowDown", "ArrowLeft", "ArrowLeft", "Space", "ArrowDown", "ArrowDown");
    await press("Shift+Space");
    await page.getByText("3 selected").waitFor();
    const before = await page.evaluate("scrollY");
    await reach(page, button(page, "Mark as"));
    await press("Enter", "ArrowDown", "ArrowDown", "Enter");
    await toast(page, "3 animals were sold").waitFor();
    // The Tab key has loaded nothing, and the rows are where they were.
    await expectSoon(() => page.evaluate("scrollY"), before);
    await press("Control+z");
    await toast(page, "Undone: 3 animals changed back").waitFor();
    await expectSoon(() => statusText(page, "Pet 129"), "Available");
    // Removes them, and presses Undo.
    await reach(
      page,
      page.getByRole("group", { name: "Selected animals" })
        .getByRole("button", { name: "Remove" }),
    );
    await press("Enter");
    await expectFocus(button(dialog, "Keep"));
    await press("Tab", "Enter");
    await toast(page, "3 animals were removed").waitFor();
    await until(async () =>
      assert(await page.evaluate("document.activeElement.closest('[data-id]') !== null"))
    );
    await reach(page, button(page, "Undo"));
    await press("Enter");
    await toast(page, "Undone: 3 animals are back").waitFor();
    // Opens an animal's page, changes it there, and goes back.
    await press("/");
    await expectFocus(page.getByRole("searchbox"));
    await type("rex");
    await page.getByText("1 animal", { exact: true }).waitFor();
    await reach(page, linkOf(page, "Rex II"));
    await press("Enter");
    await page.getByRole("heading", { name: "Rex II" }).waitFor();
    await reach(page, button(page, "Edit"));
    await press("Enter");
    await expectFocus(dialog.getByLabel("Name"));
    await press("Control+a");
    await type("Max");
    await press("Enter");
    await page.getByRole("heading", { name: "Max" }).waitFor();
    await reach(page, page.getByRole("link", { name: "All animals" }));
    await press("Enter");
    await page.getByRole("searchbox").waitFor();
    const stored = await (await service.send("/v1/pets?ids=131")).json();
    assertEquals(stored, [{ id: 131, name: "Max", categoryId: 8, status: "sold" }]);
  },
);
