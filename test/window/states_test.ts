/**
 * Axe finds nothing, nothing is wider than the screen, no control is out of reach, and the focus is seen: in the states of
 * the selection, the messages, the lists and the dialogs, light, dark, with forced colours and with large text.
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  focusOn,
  press,
  row,
  toast,
} from "../support/window_controls.ts";

/** Pixels of a text of twice the usual size. */
const LARGE = 32;

interface Surface {
  name: string;
  width: number;
  forcedColors?: string;
  /** Size of the text in pixels, as the reader sets it in the browser. */
  textSize?: number;
}

const SURFACES: readonly Surface[] = [
  // Axe sees both dark, too.
  { name: "light at 390", width: 390 },
  { name: "light at 1280", width: 1280 },
  { name: "forced colours at 1280", width: 1280, forcedColors: "active" },
  { name: "twice the text at 390", width: 390, textSize: LARGE },
];

/** Controls that are shown, but partly outside of the screen or of what scrolls to them. It runs in the page. */
const OUT_OF_REACH = `(() => {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
  const controls = [...top.querySelectorAll("button, input, a, [role=option]")];
  const isOut = (it) => {
    const { left, right, width } = it.getBoundingClientRect();
    const isUnseen = it.matches(".skip, .unseen") || it.closest("[role=tablist], .line") !== null;
    return width > 0 && !isUnseen && (left < 0 || right > innerWidth);
  };
  return controls.filter(isOut).map((it) => it.outerHTML);
})()`;

/** The controls of what lies above the page that another element covers, from the middle of each. It runs in the page. */
const COVERED = `(() => {
  const above = ".floating button, dialog[open] button, [role=option], .menu button, .menu a";
  const controls = [...document.querySelectorAll(above)];
  const top = [...document.querySelectorAll("dialog[open], .menu:popover-open")].at(-1);
  const isCovered = (it) => {
    it.scrollIntoView({ block: "nearest" });
    const { left, top, width, height } = it.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    return width > 0 && found !== null && !it.contains(found);
  };
  const isOfTop = (it) => top === undefined || top.contains(it);
  const hasList = document.querySelector("[role=listbox]") !== null;
  const shown = controls.filter((it) => isOfTop(it) && (!hasList || it.role === "option"));
  return shown.filter(isCovered).map((it) => it.outerHTML);
})()`;

for (const { name, width, textSize, ...colours } of SURFACES) {
  testInBrowser(
    `selection, messages, lists and dialogs are all there: ${name}`,
    async ({ service, open }) => {
      await service.nameCategory(7n, "Dogs");
      for (const pet of ["Rex", "Mia", "Bella"]) {
        await service.add({ name: pet, categoryId: 7, status: "available" });
      }
      const page = await open("/window", { width, ...colours });
      if (textSize !== undefined) await setTextSize(page, textSize);
      const dialog = page.getByRole("dialog");
      const check = async (state: string) => {
        await expectAccessible(page, state);
        await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width, state);
        await expectSoon(() => page.evaluate(OUT_OF_REACH), [], state);
        await expectSoon(() => page.evaluate(COVERED), [], state);
      };
      await page.getByLabel("Stay signed in on this computer").check();
      await check("sign-in");
      await page.getByLabel("Access key").fill(service.token);
      await page.keyboard.press("Enter");
      await row(page, "Bella").waitFor();
      await focusOn(page.getByRole("checkbox", { name: "Select Bella" }));
      await checkRing(page, "a check box");
      for (const key of ["Space", "ArrowDown", "Shift+Space"]) await page.keyboard.press(key);
      const bar = page.getByRole("group", { name: "Selected animals" });
      await bar.getByText("2 selected").waitFor();
      await check("selection");
      await focusOn(button(bar, "Mark as"));
      await checkRing(page, "a button of the selection");
      await page.keyboard.press("Enter");
      await page.getByRole("group", { name: "Mark as" }).waitFor();
      await check("list of the selection");
      await press(page.getByRole("group", { name: "Mark as" }), "Sold");
      await toast(page, "2 animals were sold").waitFor();
      // The pointer keeps the message, however slow axe is.
      await toast(page, "2 animals were sold").hover();
      await check("message with Undo, and selection");
      await press(bar, "Remove");
      await check("question about several");
      await press(dialog, "Keep");
      await page.getByRole("group", { name: "Selected animals" }).getByText("2 selected").waitFor();
      await press(bar, "Clear");
      await press(page, "Add an animal");
      await checkRing(page, "a field");
      await dialog.getByRole("combobox", { name: "Status" }).click();
      await check("select in a dialog");
      await page.keyboard.press("Escape");
      await dialog.getByRole("combobox", { name: "Category" }).fill("Do");
      await page.getByRole("option", { name: "Add a category" }).waitFor();
      await check("list of categories in a dialog");
      await page.getByRole("option", { name: "Add a category" }).click();
      await dialog.getByText("A new category").waitFor();
      await check("a new category in a dialog");
      await press(dialog, "Cancel");
      await dialog.getByText("What you typed would be lost.").waitFor();
      await check("a dialog above another one");
      await press(dialog.filter({ hasText: "Discard" }), "Discard");
      await dialog.first().waitFor({ state: "hidden" });
      await page.getByRole("link", { name: "Categories" }).click();
      await page.getByRole("link", { name: "Dogs" }).waitFor();
      await check("categories");
      await page.getByRole("link", { name: "All animals" }).click();
      await row(page, "Rex").waitFor();
      // A narrow page has a menu for what a wide one shows in a line.
      const menu = button(page, "Filters and more");
      if (await menu.isVisible()) {
        await menu.click();
        for (const name of ["Show the oldest first", "Import", "Export"]) {
          await button(page, name).waitFor();
        }
        await check("menu of the list");
        await page.keyboard.press("Escape");
      }
      await press(page, /^Access key/);
      await page.getByRole("group", { name: "Your key" }).waitFor();
      await check("menu of the key");
      await page.keyboard.press("Escape");
      await page.locator("[data-id]").getByRole("link", { name: "Rex" }).click();
      await page.locator(".history li").first().waitFor();
      await check("page of an animal");
      await press(page, "Edit");
      await page.getByRole("dialog").getByLabel("Name").waitFor();
      await check("edit on its page");
      await press(page.getByRole("dialog"), "Cancel");
      await press(page, "Remove");
      await toast(page, "Rex was removed").waitFor();
      await toast(page, "Rex was removed").hover();
      await check("removed animal, with Undo");
    },
  );
}

/** Sets the size of the text of the browser, from which the page takes its sizes. */
async function setTextSize(page: Page, pixels: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: pixels } });
  await page.reload();
  await page.getByLabel("Access key").waitFor();
  const size = await page.evaluate("getComputedStyle(document.documentElement).fontSize");
  assertEquals(size, `${pixels}px`);
}

/** Asserts that the element with the focus has a ring that is seen. */
async function checkRing(page: Page, what: string): Promise<void> {
  const [style, pixels] = await page.evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return [outlineStyle, parseFloat(outlineWidth)];
  })()`);
  assert(style !== "none" && pixels >= 2, `${what} has no ring`);
}

testInBrowser(
  "the table is closed at its bottom, at the end of the list and of a short one",
  async ({ service, open }) => {
    for (let id = 1; id <= 30; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    for (const width of [390, 1280]) {
      const page = await open(`/window#key=${service.token}`, { width });
      await row(page, "Pet 30").waitFor();
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      const last = row(page, "Pet 1");
      await last.waitFor();
      const [table, box] = await Promise.all([
        page.locator("#rows").boundingBox(),
        last.boundingBox(),
      ]);
      const [border, radius] = await page.evaluate(`(() => {
        const { borderBottomWidth, borderBottomLeftRadius } =
          getComputedStyle(document.querySelector("#rows"));
        return [borderBottomWidth, borderBottomLeftRadius];
      })()`);
      assertEquals([border, parseFloat(radius) > 0], ["1px", true]);
      // One line closes it, and the last row has none of its own.
      assertEquals(table.y + table.height - 1, box.y + box.height);
      assert(await last.evaluate(isLast));
    }
  },
);

/** It runs in the page. */
const isLast = (it: Page) => it.parentElement.lastElementChild === it;

testInBrowser(
  "a finger has 44 pixels for each control of an edit, upright and across",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    const tooLow = async (form: Page) => {
      const controls = await form.locator("input, select, button").all();
      const boxes = await Promise.all(controls.map((it: Page) => it.boundingBox()));
      assertGreater(boxes.length, 4);
      return boxes.filter(({ height }) => height < 44);
    };
    const across = await open(`/window#key=${service.token}`, { width: 844, hasTouch: true });
    await press(across, "Edit Rex");
    await expectSoon(() => tooLow(across.locator("form")), []);
    await across.setViewportSize({ width: 390, height: 844 });
    await expectSoon(() => tooLow(across.locator("form")), []);
    await expectSoon(() => across.evaluate("document.documentElement.scrollWidth"), 390);
  },
);
