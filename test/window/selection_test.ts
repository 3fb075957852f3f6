/** Several animals at once: how they are selected, what is done with them, and what failed and why. */

import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  focusOn,
  linkOf,
  pickStatus,
  press,
  row,
  ROWS,
  statusOf,
  statusText,
  tab,
  toast,
} from "../support/window_controls.ts";

const boxOf = (page: Page, name: string) =>
  page.getByRole("checkbox", { name: `Select ${name}`, exact: true });

const bar = (page: Page) => page.getByRole("group", { name: "Selected animals" });

const isBatch = ({ url }: Request) => url.endsWith("/pets/batch");

async function markAs(page: Page, status: string): Promise<void> {
  await press(page, "Mark as");
  await press(page.getByRole("group", { name: "Mark as" }), status);
}

async function addPets(service: { add: (pet: object) => Promise<unknown> }, count: number) {
  for (let id = 1; id <= count; id++) {
    await service.add({ name: `Pet ${id}`, categoryId: 7, status: "available" });
  }
}

testInBrowser(
  "Shift selects a range, a check box all that is loaded, and the keyboard does it, too",
  async ({ service, open }) => {
    await addPets(service, 130);
    const page = await open(`/window#key=${service.token}`);
    await boxOf(page, "Pet 128").click();
    await bar(page).getByText("1 selected").waitFor();
    await boxOf(page, "Pet 125").click({ modifiers: ["Shift"] });
    await bar(page).getByText("4 selected").waitFor();
    await expectSoon(() => boxOf(page, "Pet 126").isChecked(), true);
    await expectSoon(() => row(page, "Pet 126").getAttribute("aria-selected"), "true");
    await boxOf(page, "Pet 127").click();
    await bar(page).getByText("3 selected").waitFor();
    const all = page.getByRole("checkbox", { name: "Select all 100 loaded animals" });
    await expectSoon(() => all.evaluate((it: Page) => it.indeterminate), true);
    await all.click();
    await bar(page).getByText("100 selected").waitFor();
    await expectAccessible(page, "selection");
    await press(bar(page), "Clear");
    await bar(page).waitFor({ state: "hidden" });
    await focusOn(linkOf(page, "Pet 130"));
    await page.keyboard.press("ArrowLeft");
    await expectFocus(boxOf(page, "Pet 130"));
    await page.keyboard.press("Space");
    for (const name of ["Pet 129", "Pet 128"]) {
      await page.keyboard.press("ArrowDown");
      await expectFocus(boxOf(page, name));
    }
    await page.keyboard.press("Shift+Space");
    await bar(page).getByText("3 selected").waitFor();
    await page.keyboard.press("Escape");
    await bar(page).waitFor({ state: "hidden" });
    // The key selects from the name of an animal, too.
    await focusOn(linkOf(page, "Pet 130"));
    await page.keyboard.press("Space");
    await bar(page).getByText("1 selected").waitFor();
    await page.keyboard.press("Space");
    await bar(page).waitFor({ state: "hidden" });
    // Shift and the arrows extend the range and take back what they have extended.
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp"]) {
      await page.keyboard.press(`Shift+${key}`);
    }
    await expectFocus(linkOf(page, "Pet 129"));
    await bar(page).getByText("2 selected").waitFor();
    await expectSoon(() => boxOf(page, "Pet 128").isChecked(), false);
    await page.keyboard.press("Control+a");
    await bar(page).getByText("100 selected").waitFor();
    // Escape closes what is open, and clears the selection from wherever the focus is.
    await press(page, "Mark as");
    await page.keyboard.press("Escape");
    await button(page.getByRole("group", { name: "Mark as" }), "Sold").waitFor({ state: "hidden" });
    await bar(page).getByText("100 selected").waitFor();
    await expectFocus(button(page, "Mark as"));
    await page.keyboard.press("Escape");
    await bar(page).waitFor({ state: "hidden" });
    // In a text, the keys select text.
    await page.keyboard.press("/");
    await page.keyboard.press("Control+a");
    await boxOf(page, "Pet 130").click();
    await bar(page).getByText("1 selected").waitFor();
    // Elsewhere, nobody sees what is selected.
    await page.getByRole("link", { name: "Activity" }).click();
    await bar(page).waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "All animals" }).click();
    await press(bar(page), "Clear");
    // Another list begins without a selection.
    await boxOf(page, "Pet 130").click();
    await bar(page).waitFor();
    await tab(page, "Available 130").click();
    await bar(page).waitFor({ state: "hidden" });
    await expectSoon(() => boxOf(page, "Pet 130").isChecked(), false);
  },
);

testInBrowser(
  "all animals of a long list can be selected, and what is done with them waits",
  async ({ service, network, open }) => {
    await addPets(service, 320);
    const page = await open(`/window#key=${service.token}`);
    const gate = Promise.withResolvers<void>();
    let pages = 0;
    network.fetch = async (request) => {
      const isNext = request.url.includes("cursor=");
      if (isNext && ++pages === 2) await gate.promise;
      return await service.fetch(request);
    };
    await tab(page, "All 320").waitFor();
    await boxOf(page, "Pet 320").click();
    await press(bar(page), "Select all 320");
    // What is done with the selection waits for it, and the bar says one number.
    await bar(page).getByText("Selecting all 320 …").waitFor();
    await expectSoon(() => bar(page).getByRole("progressbar").getAttribute("value"), "200");
    assertEquals(await bar(page).getByText("selected").count(), 0);
    for (const name of ["Mark as", "Move to", "Remove", "Export"]) {
      assertEquals(await button(bar(page), name).isDisabled(), true, name);
    }
    await expectAccessible(page, "loading of a selection");
    await press(bar(page), "Stop");
    await bar(page).getByText("1 selected").waitFor();
    await expectFocus(button(bar(page), "Select all 320"));
    gate.resolve();
    await press(bar(page), "Select all 320");
    await bar(page).getByText("320 selected").waitFor();
    await button(bar(page), "Select all 320").waitFor({ state: "hidden" });
    await expectFocus(linkOf(page, "Pet 320"));
    // So many need a question. It names the status, and is not red because it destroys nothing.
    await markAs(page, "Sold");
    const question = page.getByRole("dialog");
    await question.getByRole("heading", { name: "Mark 320 animals as “Sold”?" }).waitFor();
    const colourOf = (it: Page) =>
      it.ownerDocument.defaultView.getComputedStyle(it).backgroundColor;
    assertEquals(
      await button(question, "Mark as “Sold”").evaluate(colourOf),
      await button(page, "Add an animal").evaluate(colourOf),
    );
    await press(question, "Cancel");
    await bar(page).getByText("320 selected").waitFor();
  },
);

testInBrowser(
  "all animals can be selected while the list is loading its next page",
  async ({ service, network, open }) => {
    await addPets(service, 320);
    const page = await open(`/window#key=${service.token}`);
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("cursor=")) await gate.promise;
      return await service.fetch(request);
    };
    await tab(page, "All 320").waitFor();
    await boxOf(page, "Pet 320").click();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const list = page.getByRole("tabpanel");
    await expectSoon(() => list.getAttribute("aria-busy"), "true");
    await press(bar(page), "Select all 320");
    gate.resolve();
    await bar(page).getByText("320 selected").waitFor();
  },
);

testInBrowser(
  "selected animals get a status, and Undo gives each its own status back",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    await service.add({ name: "Mia", categoryId: 7 });
    await service.add({ name: "Zoe", categoryId: 7, status: "sold" });
    await service.add({ name: "Max", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    await boxOf(page, "Zoe").click();
    await boxOf(page, "Rex").click({ modifiers: ["Shift"] });
    await markAs(page, "Sold");
    await toast(page, "2 animals were sold, 1 unchanged").waitFor();
    await tab(page, "Sold 3").waitFor();
    await press(toast(page, "were sold"), "Undo");
    await toast(page, "Undone: 2 animals changed back").waitFor();
    await tab(page, "Sold 1").waitFor();
    for (const [name, status] of [["Rex", "Available"], ["Mia", "No status"], ["Zoe", "Sold"]]) {
      await expectSoon(() => statusText(page, name), status);
    }
    await press(bar(page), "Clear");
    await boxOf(page, "Zoe").click();
    await markAs(page, "Sold");
    await toast(page, "1 animal needed no change").waitFor();
  },
);

testInBrowser(
  "selected animals move to a category by the keyboard, and Undo gives each its own back unless somebody has changed it",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Cats");
    for (const [name, categoryId] of [["Rex", 7], ["Mia", 8], ["Zoe", 9], ["Max", 7]]) {
      await service.add({ name, categoryId });
    }
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    const categories = async () => {
      const pets = await (await service.send("/v1/pets?order=asc")).json();
      return pets.map(({ categoryId }: { categoryId: number }) => categoryId);
    };
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key);
    };
    await focusOn(boxOf(page, "Zoe"));
    await keys("Space", "ArrowDown", "ArrowDown", "Shift+Space");
    await bar(page).getByText("3 selected").waitFor();
    await focusOn(button(page, "Move to"));
    await keys("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Move 3 animals to another category" }).waitFor();
    const field = dialog.getByRole("combobox", { name: "Category" });
    await expectFocus(field);
    await keys("Enter");
    await dialog.getByText("Category is missing").waitFor();
    await page.keyboard.type("cat");
    await keys("Enter");
    await dialog.getByText("Move 3 animals to Cats?").waitFor();
    await expectAccessible(page, "question of a move");
    await keys("Enter");
    await toast(page, "2 animals moved to Cats, 1 unchanged").waitFor();
    assertEquals(await categories(), [8, 8, 8, 7]);
    // The keys go on from the list.
    await expectSoon(() => page.evaluate("document.activeElement.closest('#rows') !== null"), true);
    // The undo changes nothing that somebody has changed since.
    await service.change(3, { categoryId: 12 });
    await row(page, "Zoe").getByText("Category 12").waitFor();
    await keys("Control+z");
    await dialog.getByRole("heading", { name: "1 animal was not changed back" }).waitFor();
    await dialog.getByText("Undone: Rex has its old category again").waitFor();
    await dialog.getByText("Somebody else changed it meanwhile").waitFor();
    await keys("Escape");
    assertEquals(await categories(), [7, 8, 12, 7]);
    // A typed name becomes a category, once the question is answered.
    await press(bar(page), "Move to");
    await field.fill("Guests");
    await keys("Enter");
    await dialog.getByText("A new category, which is added first").waitFor();
    await dialog.getByText("Move 3 animals to Guests?").waitFor();
    await press(dialog, "Move");
    await toast(page, "3 animals moved to Guests").waitFor();
    assertEquals(await categories(), [13, 13, 13, 7]);
    assertEquals((await service.listCategories()).at(-1), { id: 13n, name: "Guests" });
    await press(toast(page, "moved to Guests"), "Undo");
    await toast(page, "Undone: 3 animals changed back. Guests has no animals now").waitFor();
    assertEquals(await categories(), [7, 8, 12, 7]);
  },
);

testInBrowser(
  "selected animals are removed after a question, and Undo brings them back",
  async ({ service, open }) => {
    await addPets(service, 4);
    const page = await open(`/window#key=${service.token}`);
    await boxOf(page, "Pet 3").click();
    await boxOf(page, "Pet 2").click();
    // The name of the animal, which is the tab stop of the list, comes before the bar.
    for (const key of ["Tab", "Tab", "Tab", "Tab", "Tab", "Enter"]) {
      await page.keyboard.press(key);
    }
    const dialog = page.getByRole("dialog").filter({ hasText: "Remove 2 animals?" });
    await dialog.waitFor();
    await expectAccessible(page, "question of a removal");
    await press(dialog, "Remove");
    await toast(page, "2 animals were removed").waitFor();
    await tab(page, "All 2").waitFor();
    await bar(page).waitFor({ state: "hidden" });
    await press(toast(page, "were removed"), "Undo");
    await toast(page, "Undone: 2 animals are back").waitFor();
    await tab(page, "All 4").waitFor();
    const ids = () =>
      page.locator(ROWS).evaluateAll((rows: Page[]) => rows.map((it) => it.dataset.id));
    await expectSoon(ids, ["4", "3", "2", "1"]);
  },
);

testInBrowser(
  "a report says which animals failed and why, and undoes what was done",
  async ({ service, network, open }) => {
    await addPets(service, 4);
    const page = await open(`/window#key=${service.token}`);
    await page.getByRole("checkbox", { name: "Select all 4 loaded animals" }).click();
    network.fetch = async (request) => {
      if (!isBatch(request)) return await service.fetch(request);
      // Somebody is faster.
      await service.change(3, { categoryId: 9 });
      await service.remove(4);
      // The service fails for one of them.
      const { operations } = await request.clone().json();
      const broken = operations.findIndex(({ petId }: { petId: number }) => petId === 2);
      operations[broken] = { action: "remove", petId: 99 };
      const body = JSON.stringify({ operations });
      const { results } = await (await service.fetch(new Request(request, { body }))).json();
      results[broken] = { status: 500, body: { code: "broken", message: "It fails" } };
      return Response.json({ results });
    };
    await markAs(page, "Pending");
    const dialog = page.getByRole("dialog").filter({ hasText: "3 animals were not changed" });
    await dialog.getByText("1 animal became pending.").waitFor();
    const reasons = async () => {
      const lines = await dialog.getByRole("row").allInnerTexts();
      return lines.slice(1).map((it: string) => it.replaceAll(/\s+/g, " ")).toSorted();
    };
    await expectSoon(reasons, [
      "Pet 2 2 It fails",
      "Pet 3 3 Somebody else changed it meanwhile",
      "Pet 4 4 Somebody else removed it meanwhile",
    ]);
    await expectAccessible(page, "report");
    network.fetch = service.fetch;
    await press(dialog, "Undo the change");
    await toast(page, "Undone: Pet 1 is available again").waitFor();
    await expectSoon(() => statusText(page, "Pet 1"), "Available");
    await bar(page).getByText("3 selected").waitFor();
  },
);

testInBrowser(
  "a bar says how far it is, and Stop sends no others",
  async ({ service, network, open }) => {
    await addPets(service, 210);
    const page = await open(`/window#key=${service.token}`);
    await page.getByRole("checkbox", { name: "Select all 100 loaded animals" }).click();
    await press(bar(page), "Select all 210");
    await bar(page).getByText("210 selected").waitFor();
    const gate = Promise.withResolvers<void>();
    let batches = 0;
    network.fetch = async (request) => {
      if (isBatch(request) && ++batches === 2) await gate.promise;
      return await service.fetch(request);
    };
    await markAs(page, "Sold");
    await press(page.getByRole("dialog"), "Mark as “Sold”");
    const running = page.getByRole("group", { name: "Changing animals" });
    await running.getByText("Changing 100 of 210").waitFor();
    await expectSoon(() => running.getByRole("progressbar").getAttribute("value"), "100");
    await expectAccessible(page, "progress");
    await press(running, "Stop");
    gate.resolve();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Stopped: 10 animals were not changed" }).waitFor();
    await dialog.getByText("200 animals were sold.").waitFor();
    await dialog.getByText("You stopped it before it came to 10 animals.").waitFor();
    await expectAccessible(page, "report of what was stopped");
    assertEquals(batches, 2);
    await press(dialog, "Undo the 200 changes");
    await toast(page, "Undone: 200 animals changed back").waitFor();
    await tab(page, "Available 210").waitFor();
  },
);

testInBrowser(
  "what was stopped stays stopped, also if an Undo of something else begins before it has ended",
  async ({ service, network, open }) => {
    await addPets(service, 120);
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    await pickStatus(page, "Rex", "Sold");
    // A message that is pointed at stays, so the rest is done with the keys.
    await toast(page, "Rex was sold").hover();
    await focusOn(boxOf(page, "Pet 120"));
    await page.keyboard.press("Space");
    await focusOn(button(bar(page), "Select all 121"));
    await page.keyboard.press("Enter");
    await bar(page).getByText("121 selected").waitFor();
    const gate = Promise.withResolvers<void>();
    let batches = 0;
    network.fetch = async (request) => {
      if (isBatch(request)) {
        batches++;
        await gate.promise;
      }
      return await service.fetch(request);
    };
    await focusOn(button(page, "Mark as"));
    for (const key of ["Enter", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const running = (words: string) => page.getByRole("group", { name: `${words} animals` });
    await running("Changing").getByText("Changing 0 of 120").waitFor();
    await focusOn(button(running("Changing"), "Stop"));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+z");
    await running("Undoing").getByText("Undoing 0 of 1").waitFor();
    gate.resolve();
    const dialog = page.getByRole("dialog").filter({ hasText: "20 animals were not changed" });
    await dialog.getByText("You stopped it before it came to 20 animals.").waitFor();
    await press(dialog, "Close");
    await expectSoon(() => statusText(page, "Rex"), "Available");
    assertEquals(batches, 2);
    await tab(page, "Sold 100").waitFor();
  },
);

testInBrowser(
  "all animals of a change show at once what they get, and the list is drawn some times a second",
  async ({ service, network, open }) => {
    await addPets(service, 100);
    const page = await open(`/window#key=${service.token}`);
    await page.getByRole("checkbox", { name: "Select all 100 loaded animals" }).click();
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (isBatch(request)) await gate.promise;
      return await service.fetch(request);
    };
    await page.evaluate(`
      draws = 0;
      new MutationObserver(() => draws++).observe(document.querySelector("#rows"), {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
    `);
    await markAs(page, "Sold");
    try {
      for (const name of ["Pet 100", "Pet 90"]) {
        await expectSoon(() => statusText(page, name), "Sold");
        await expectSoon(() => statusOf(page, name).getAttribute("aria-busy"), "true");
      }
    } finally {
      gate.resolve();
    }
    const start = performance.now();
    await toast(page, "100 animals were sold").waitFor();
    const seconds = (performance.now() - start) / 1_000;
    await expectSoon(() => statusOf(page, "Pet 100").getAttribute("aria-busy"), "false");
    await tab(page, "Sold 100").waitFor();
    // Four times for the outcomes, and four times for the stream.
    assertLess(await page.evaluate("draws"), 10 + 10 * seconds);
  },
);

testInBrowser(
  "a key that may only read selects to export, and the file has these animals alone",
  async ({ service, open }) => {
    await addPets(service, 3);
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const page = await open(`/window#key=${token}`, { width: 390 });
    await boxOf(page, "Pet 2").click();
    await press(bar(page), "Select all 3");
    await bar(page).getByText("3 selected").waitFor();
    await boxOf(page, "Pet 1").click();
    await bar(page).getByText("2 selected").waitFor();
    assertEquals(await bar(page).getByRole("combobox").count(), 0);
    for (const name of ["Move to", "Remove"]) {
      assertEquals(await button(bar(page), name).count(), 0, name);
    }
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      press(bar(page), "Export"),
    ]);
    const text = await Deno.readTextFile(await download.path());
    assertMatch(text, /Pet 3.*\r\nPet 2/);
    assertEquals(text.trim().split("\r\n").length, 3);
    await toast(page, "2 animals were exported").waitFor();
  },
);
