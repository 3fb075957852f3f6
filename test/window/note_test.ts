/** The note of an animal in the form, on its page and in the list. */

import { assertEquals, assertLess } from "@std/assert";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { button, focusOn, press, row, toast } from "../support/window_controls.ts";

const noteOf = async (client: { send(path: string): Promise<Response> }, id: number) =>
  (await (await client.send(`/v1/pets/${id}`)).json()).note;

testInBrowser(
  "a note is written, changed and removed with the keyboard, and shown with its lines",
  async ({ service, open }) => {
    for (const width of [390, 1280]) {
      const name = `Zoë ${width}`;
      const { id } = await (await service.add({ name, categoryId: 7 })).json();
      const page = await open(`/window?animal=${id}#key=${service.token}`, { width });
      const dialog = page.getByRole("dialog");
      const details = page.locator(".details");
      await page.locator(".history li").first().waitFor();
      assertEquals(await details.getByText("Note").count(), 0);
      const edit = async (keys: () => Promise<void>) => {
        await focusOn(button(page, "Edit"));
        await page.keyboard.press("Enter");
        await focusOn(dialog.getByLabel("Note"));
        await keys();
        await focusOn(button(dialog, "Save"));
        await page.keyboard.press("Enter");
        await dialog.waitFor({ state: "hidden" });
      };
      await edit(async () => {
        await page.keyboard.type("Likes cheese");
        await page.keyboard.press("Enter");
        await page.keyboard.type("=and fish ");
      });
      await expectSoon(() => noteOf(service, id), "Likes cheese\n=and fish");
      await expectSoon(() => details.locator(".lines").innerText(), "Likes cheese\n=and fish");
      await toast(page, `${name} got the note “Likes cheese …”`).waitFor();
      await press(page, "Undo");
      await expectSoon(() => noteOf(service, id), undefined);
      await toast(page, `Undone: ${name} has its old note again`).waitFor();
      await service.change(id, { note: "One\r\nTwo" });
      await expectSoon(() => details.locator(".lines").innerText(), "One\nTwo");
      // A form in which nobody types changes nothing.
      await edit(() => Promise.resolve());
      assertEquals(await noteOf(service, id), "One\r\nTwo");
      await edit(async () => {
        await page.keyboard.press("ControlOrMeta+a");
        await page.keyboard.press("Delete");
      });
      await expectSoon(() => noteOf(service, id), undefined);
      await edit(async () => {
        await dialog.getByLabel("Note").fill("x".repeat(2_001));
        await button(dialog, "Save").click();
        await dialog.getByText("Note has more than 2,000 characters").waitFor();
        await dialog.getByLabel("Note").fill("y".repeat(2_000));
      });
      await expectSoon(() => noteOf(service, id), "y".repeat(2_000));
      const widthOf = () => page.evaluate("document.documentElement.scrollWidth");
      await expectSoon(widthOf, width);
      await page.context().close();
    }
  },
);

testInBrowser(
  "a wide list has the first line of each note, a narrow one only during a search, which may have found it",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, note: "First line\nSecond line" });
    for (const [width, isShown] of [[320, false], [390, false], [1280, true]] as const) {
      const page = await open(`/window#key=${service.token}`, { width });
      await row(page, "Rex").waitFor();
      const note = row(page, "Rex").getByText("First line …");
      assertEquals(await note.isVisible(), isShown);
      await page.getByLabel("Search by name, note or id").fill("first");
      await page.getByText("1 animal", { exact: true }).waitFor();
      const [box, ofRow] = [await note.boundingBox(), await row(page, "Rex").boundingBox()];
      assertLess(box.y + box.height, ofRow.y + ofRow.height + 1, `${width}`);
      await page.getByLabel("Search by name, note or id").fill("");
      await expectSoon(() => note.isVisible(), isShown);
      assertEquals(await row(page, "Rex").getByText("Second line").count(), 0);
      await page.context().close();
    }
  },
);
