/** Categories have names everywhere in the window, and a page that names them. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  focusOn,
  happened,
  linkOf,
  press,
  row,
  ROWS,
  showActivity,
  toast,
} from "../support/window_controls.ts";

const LARGEST = "9223372036854775807";

const option = (page: Page, name: string | RegExp) =>
  page.getByRole("listbox").getByRole("option", { name });

testInBrowser(
  "a category is chosen from a list of names, or typed as a number",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(LARGEST, "Cats");
    await service.nameCategory(71n, "Parrots");
    const page = await open(`/window#key=${service.token}`);
    await page.getByText("No animals yet").waitFor();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("combobox", { name: "Category" });
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key);
    };
    const save = async (name: string) => {
      await dialog.getByLabel("Name").fill(name);
      await press(dialog, "Add");
      await row(page, name).waitFor();
      await dialog.waitFor({ state: "hidden" });
    };
    // With keys, the name is found, Enter chooses it, and the form stays open.
    await press(page, "Add an animal");
    await focusOn(field);
    await keys("ArrowDown");
    await expectSoon(() => option(page, /./).count(), 3);
    await field.pressSequentially("DO");
    await option(page, "Dogs").and(page.locator(".active")).waitFor();
    await expectSoon(() => option(page, /./).count(), 2);
    await option(page, "Add a category “DO”").waitFor();
    await expectSoon(() => option(page, "Dogs").getAttribute("title"), "Category 7");
    await keys("Enter");
    await expectSoon(() => field.inputValue(), "Dogs");
    await expectSoon(() => field.getAttribute("title"), "Category 7");
    await expectFocus(field);
    // Escape closes the list, and not the form.
    await keys("ArrowDown", "Escape");
    await page.getByRole("listbox").waitFor({ state: "hidden" });
    assert(await dialog.isVisible());
    await save("Rex");
    // A click chooses it, too.
    await press(page, "Add an animal");
    await field.click();
    await option(page, "Cats").click();
    await save("Mia");
    // A number finds exactly its category, whether that has a name or not.
    for (const [name, number] of [["Polly", "71"], ["Nemo", "1"]]) {
      await press(page, "Add an animal");
      await field.fill(number);
      await save(name);
    }
    const stored = await (await service.send("/v1/pets?order=asc")).text();
    assertEquals(
      Array.from(stored.matchAll(/"categoryId":(\d+)/g), ([, id]) => id),
      ["7", LARGEST, "71", "1"],
    );
    for (
      const [name, category, title] of [
        ["Rex", "Dogs", "Category 7"],
        ["Mia", "Cats", `Category ${LARGEST}`],
        ["Polly", "Parrots", "Category 71"],
      ]
    ) {
      const shown = row(page, name).getByTitle(title, { exact: true });
      await expectSoon(() => shown.innerText(), category);
    }
    // A text that is no name is refused at its field.
    await press(page, "Add an animal");
    await dialog.getByLabel("Name").fill("Bello");
    await field.fill("cat food");
    await press(dialog, "Add");
    await dialog.getByText("There is no category “cat food”").waitFor();
    await press(dialog, "Cancel");
    await press(dialog.filter({ hasText: "Discard" }), "Discard");
    // An edit shows the name, and the name that was typed is that category.
    await press(page, "Edit Nemo");
    await expectSoon(() => field.inputValue(), "Category 1");
    await field.fill("parrots");
    await keys("Enter", "Enter");
    await row(page, "Nemo").getByText("Parrots").waitFor();
  },
);

testInBrowser(
  "the filter takes names, and the address has the id",
  async ({ service, address, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.add({ name: "Rex", categoryId: 7 });
    await service.add({ name: "Mia", categoryId: 8 });
    const page = await open(`/window#key=${service.token}`);
    const filter = page.getByRole("combobox", { name: "Filter by category" });
    await row(page, "Mia").waitFor();
    await filter.pressSequentially("do");
    await option(page, "Dogs").waitFor();
    // A part of a name is no fault, and changes no list.
    await row(page, "Mia").waitFor();
    const fault = page.getByText("There is no category “do”");
    assertEquals(await fault.count(), 0);
    await row(page, "Mia").hover();
    await page.getByLabel("Search by name, note or id").click();
    await fault.waitFor();
    await filter.fill("do");
    await page.keyboard.press("Enter");
    await fault.waitFor({ state: "hidden" });
    await row(page, "Mia").waitFor({ state: "hidden" });
    await expectSoon(() => page.url(), `${address}/window?categoryId=7`);
    await page.reload();
    await row(page, "Rex").waitFor();
    await expectSoon(() => filter.inputValue(), "Dogs");
    await filter.fill("8");
    await row(page, "Mia").waitFor();
    await filter.fill("");
    await row(page, "Rex").waitFor();
    // Animals have a category that nobody has named, and the list has it, too.
    await filter.click();
    await expectSoon(
      () => page.getByRole("listbox").getByRole("option").allInnerTexts(),
      ["Any category", "Dogs", "Category 8"],
    );
    await option(page, "Category 8").click();
    await row(page, "Rex").waitFor({ state: "hidden" });
    await expectSoon(() => filter.inputValue(), "Category 8");
    await filter.fill("");
    await option(page, "Any category").waitFor();
    await filter.fill("category");
    await option(page, "Category 8").click();
    await filter.click();
    await option(page, "Any category").click();
    await row(page, "Rex").waitFor();
    await expectSoon(() => filter.inputValue(), "");
  },
);

testInBrowser(
  "names follow the store, and are shown with their ids on the page and in the history of an animal",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    await service.change(1, { categoryId: 8 });
    const page = await open(`/window#key=${service.token}`);
    const category = row(page, "Rex").locator("[data-field=categoryId]");
    await row(page, "Rex").waitFor();
    await category.getByText("Category 8", { exact: true }).waitFor();
    await service.nameCategory(8n, "Cats");
    await category.getByText("Cats").waitFor();
    await service.nameCategory(8n, "Felines");
    await category.getByText("Felines").waitFor();
    await service.nameCategory(7n, "Dogs");
    await linkOf(page, "Rex").click();
    const facts = page.locator(".details");
    await facts.filter({ hasText: "Felines" }).waitFor();
    const change = page.locator(".history li").first();
    await expectSoon(async () => {
      const texts = await change.locator("del, ins").allInnerTexts();
      return texts.map((it: string) => it.trim());
    }, ["Dogs", "Felines"]);
    await service.removeCategory(8n);
    await facts.filter({ hasNotText: "Felines" }).filter({ hasText: "8" }).waitFor();
    await showActivity(page);
    await happened(page, "The category name Felines was removed").waitFor();
    await happened(page, "A category was named Cats").waitFor();
  },
);

testInBrowser(
  "a page names, renames and removes, and a key that may only read sees it without buttons",
  async ({ service, address, open }) => {
    await service.add({ name: "Rex", categoryId: 12 });
    await service.nameCategory(7n, "Dogs");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const cells = async () =>
      (await page.locator("tbody tr").allInnerTexts()).map((it: string) => it.split("\t")[0]);
    await page.getByRole("link", { name: "Categories" }).click();
    await page.getByRole("heading", { name: "Categories" }).waitFor();
    await expectSoon(() => page.url(), `${address}/window?page=categories`);
    await expectSoon(() => page.title(), "Categories – Animal Store");
    await expectSoon(cells, ["Dogs", "Without a name", "Category 12"]);
    // A new category has an id that no animal has.
    await press(page, "Add a category");
    await expectFocus(dialog.getByLabel("Name"));
    await dialog.getByLabel("Name").fill("dogs");
    await press(dialog, "Add");
    await dialog.getByText("Another category has this name").waitFor();
    await dialog.getByLabel("Name").fill(" Cats ");
    await press(dialog, "Add");
    await toast(page, "Cats was added").waitFor();
    await dialog.waitFor({ state: "hidden" });
    await expectSoon(cells, ["Cats", "Dogs", "Without a name", "Category 12"]);
    await expectAccessible(page, "a category without a name");
    // A category that animals have gets its name.
    await press(page, "Name it: Category 12");
    await dialog.getByRole("heading", { name: "Name category 12" }).waitFor();
    // Somebody else is faster.
    await service.nameCategory(12n, "Fish");
    await button(page, "Rename Fish").waitFor({ state: "attached" });
    await dialog.getByLabel("Name").fill("Birds");
    await press(dialog, "Save");
    await dialog.getByText("Category 12 has the name Fish already").waitFor();
    await press(dialog, "Cancel");
    await press(dialog.filter({ hasText: "Discard" }), "Discard");
    await service.removeCategory(12n);
    await press(page, "Name it: Category 12");
    await dialog.getByLabel("Name").fill("Birds");
    await press(dialog, "Save");
    await toast(page, "Category 12 is Birds now").waitFor();
    await expectSoon(cells, ["Birds", "Cats", "Dogs"]);
    await press(page, "Rename Dogs");
    // Somebody else is faster.
    await service.nameCategory(7n, "Hounds");
    await button(page, "Rename Hounds").waitFor({ state: "attached" });
    await dialog.getByLabel("Name").fill("Puppies");
    await press(dialog, "Save");
    await dialog.getByText("Somebody else has renamed it Hounds").waitFor();
    await press(dialog, "Cancel");
    await press(dialog.filter({ hasText: "Discard" }), "Discard");
    await press(page, "Rename Hounds");
    await dialog.getByLabel("Name").fill("Puppies");
    await press(dialog, "Save");
    await toast(page, "Hounds is Puppies now").waitFor();
    await button(page, "Rename Puppies").waitFor();
    for (const answer of ["Keep", "Remove name"]) {
      await press(page, "Remove Birds");
      await dialog.getByText("Its animals stay, in “Category 12”.").waitFor();
      await press(dialog, answer);
    }
    await expectSoon(cells, ["Cats", "Puppies", "Without a name", "Category 12"]);
    assertEquals(await service.listCategories(), [
      { id: 7n, name: "Puppies" },
      { id: 13n, name: "Cats" },
    ]);
    const cats = page.getByRole("cell", { name: "Cats" }).getByTitle("Category 13");
    await cats.waitFor();
    // It also leads to its animals.
    await page.getByRole("link", { name: "Category 12" }).click();
    await row(page, "Rex").waitFor();
    await page.goBack();
    // A name leads to its animals, and back.
    await page.getByRole("link", { name: "Puppies" }).click();
    await page.getByText("No animals in Puppies.").waitFor();
    await expectSoon(() => page.url(), `${address}/window?categoryId=7`);
    await page.goBack();
    await page.getByRole("heading", { name: "Categories" }).waitFor();
    const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const reader = await open(`/window?page=categories#key=${token}`, { width: 390 });
    await reader.getByRole("cell", { name: "Puppies" }).waitFor();
    await reader.getByRole("cell", { name: "Category 12" }).waitFor();
    assertEquals(await reader.getByRole("article").getByRole("button").count(), 0);
    await reader.getByRole("row", { name: "Category 12 1", exact: true }).waitFor();
    await reader.getByRole("link", { name: "All animals" }).click();
    await row(reader, "Rex").waitFor();
  },
);

/** The rows of the page, each with the name and the number of animals. */
function countsOf(page: Page): Promise<string[]> {
  return page.locator("tbody tr:has(.number)").evaluateAll((rows: Page[]) =>
    rows.map((it) => `${it.querySelector("a").innerText} ${it.querySelector(".number").innerText}`)
  );
}

testInBrowser(
  "the page says how many animals each category has, also one that it has not seen, and follows the store",
  async ({ service, open, network }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Cats");
    await service.add({ name: "Old", categoryId: 12 });
    for (let id = 2; id <= 302; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    const requests: number[] = [];
    network.fetch = (request) => {
      if (request.url.endsWith("/counts")) requests.push(performance.now());
      return service.fetch(request);
    };
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Pet 302").waitFor();
    // Nobody looks at the numbers.
    assertEquals(requests, []);
    await page.getByRole("link", { name: "Categories" }).click();
    await expectSoon(() => countsOf(page), ["Cats 0", "Dogs 301", "Category 12 1"]);
    // Somebody else changes the store for a while.
    for (let id = 2; id <= 60; id++) {
      await service.change(id, { categoryId: 8 });
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await service.remove(1);
    await expectSoon(() => countsOf(page), ["Cats 59", "Dogs 242"]);
    const pauses = requests.slice(1).map((at, index) => at - requests[index]);
    assert(pauses.every((pause) => pause > 900), `${pauses}`);
    await page.getByRole("link", { name: "All animals" }).click();
    await row(page, "Pet 302").waitFor();
    const count = requests.length;
    await service.remove(302);
    await row(page, "Pet 302").waitFor({ state: "hidden" });
    await row(page, "Pet 301").waitFor();
    assertEquals(requests.length, count);
  },
);

testInBrowser(
  "all animals of a category move to another one, with one Undo, and then its name can be removed",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Hounds");
    await service.add({ name: "Rex", categoryId: 7 });
    for (let id = 2; id <= 240; id++) await service.add({ name: `Pet ${id}`, categoryId: 8 });
    const page = await open(`/window?page=categories#key=${service.token}`, { width: 390 });
    const dialog = page.getByRole("dialog");
    await expectSoon(() => countsOf(page), ["Dogs 1", "Hounds 239"]);
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key);
    };
    await focusOn(button(page, "Actions for Hounds"));
    await keys("Enter");
    await expectFocus(button(page, "Move animals of Hounds"));
    await keys("Enter");
    await dialog.getByRole("heading", { name: "Move the 239 animals of Hounds" }).waitFor();
    await page.keyboard.type("hounds");
    await keys("Enter", "Enter");
    await dialog.getByText("The animals have this category already").waitFor();
    // Somebody else adds an animal, which moves, too.
    await service.add({ name: "Kim", categoryId: 8 });
    await dialog.getByRole("heading", { name: "Move the 240 animals of Hounds" }).waitFor();
    await keys("Control+a");
    await page.keyboard.type("dog");
    await keys("Enter");
    await dialog.getByText("Move the 240 animals of Hounds to Dogs? You can stop it").waitFor();
    await dialog.getByText("Hounds stays, without animals, until you remove it.").waitFor();
    await expectAccessible(page, "question before a category is emptied");
    await keys("Enter");
    await toast(page, "240 animals moved to Dogs").waitFor();
    await expectSoon(() => countsOf(page), ["Dogs 241", "Hounds 0"]);
    await press(toast(page, "moved to Dogs"), "Undo");
    await toast(page, "Undone: 240 animals changed back").waitFor();
    await expectSoon(() => countsOf(page), ["Dogs 1", "Hounds 240"]);
    await press(page, "Actions for Hounds");
    await press(page, "Move animals of Hounds");
    await dialog.getByRole("combobox", { name: "Category" }).fill("Dogs");
    await keys("Enter", "Enter");
    await expectSoon(() => countsOf(page), ["Dogs 241", "Hounds 0"]);
    await expectFocus(button(page, "Actions for Hounds"));
    // An empty category has nothing to move.
    await press(page, "Actions for Hounds");
    assertEquals(await button(page, "Move animals of Hounds").count(), 0);
    await press(page, "Remove Hounds");
    await dialog.getByText("It has no animals.").waitFor();
    await press(dialog, "Remove name");
    await expectSoon(() => countsOf(page), ["Dogs 241"]);
  },
);

testInBrowser(
  "the page names categories that look alike, which an earlier version has accepted, and lets them become one",
  async ({ service, open, network }) => {
    const twins = [{ id: 7, name: "Dogs" }, { id: 8, name: "Cats" }, { id: 9, name: "Do\u200bgs" }];
    network.fetch = (request) => {
      const isOfAll = new URL(request.url).pathname.endsWith("/categories");
      return isOfAll ? Promise.resolve(Response.json(twins)) : service.fetch(request);
    };
    for (const categoryId of [7, 9, 9]) await service.add({ name: "Rex", categoryId });
    const page = await open(`/window?page=categories#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const notes = () => page.locator("tbody tr p.soft").allInnerTexts();
    await expectSoon(notes, [
      "Category 7, which looks like category 9",
      "Category 9, which looks like category 7",
    ]);
    await button(page, "Move its animals to category 9").waitFor();
    await expectAccessible(page, "categories that look alike");
    await press(page, "Move its animals to category 7");
    await dialog.getByRole("heading", { name: "Move the 2 animals of Do\u200bgs (category 9)" })
      .waitFor();
    await dialog.getByText("to Dogs (category 7)?").waitFor();
    await press(dialog, "Move");
    await toast(page, "2 animals moved to Dogs (category 7)").waitFor();
    const moved = await (await service.send("/v1/categories/counts")).json();
    assertEquals(moved, [{ id: 7, animals: 3 }]);
    await button(page, "Move its animals to category 7").waitFor({ state: "hidden" });
    await button(page, "Move its animals to category 9").waitFor();
    await page.getByRole("link", { name: "All animals" }).click();
    await press(page, "Import");
    const csv = "name,category\nRex,dogs\n";
    const file = { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
    await dialog.getByLabel("File").setInputFiles(file);
    await dialog.getByText("Several categories have the name “dogs”: write the id").waitFor();
  },
);

testInBrowser(
  "the page of an empty store says how categories come",
  async ({ service, open }) => {
    const page = await open(`/window?page=categories#key=${service.token}`);
    await page.getByText("No categories yet. You can also add one while you add an animal.")
      .waitFor();
    await service.nameCategory(7n, "Dogs");
    await page.getByText("No categories yet").waitFor({ state: "hidden" });
    await button(page, "Rename Dogs").waitFor();
  },
);

testInBrowser(
  "a new category has an id that nobody uses, also beside the largest one",
  async ({ service, open }) => {
    await service.nameCategory(LARGEST, "Cats");
    await service.add({ name: "Rex", categoryId: 1 });
    await service.nameCategory(2n, "Dogs");
    const page = await open(`/window?page=categories#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await press(page, "Add a category");
    await dialog.getByLabel("Name").fill("Fish");
    await press(dialog, "Add");
    await button(page, "Rename Fish").waitFor();
    const named = await service.listCategories();
    assertEquals(named.map(({ id }) => id), [2n, 3n, BigInt(LARGEST)]);
  },
);

testInBrowser(
  "an import takes names or ids, and an export has names",
  async ({ service, open }) => {
    await service.nameCategory(7n, "=Dogs");
    await service.nameCategory(8n, "Cats");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await press(page, "Import");
    const csv = "name,category\nRex,'=dogs\nMia,CATS\nZoe,8\nKiki,9\nNemo,Fish\n";
    const file = { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
    await dialog.getByLabel("File").setInputFiles(file);
    await dialog.getByText("There is no category “Fish”").waitFor();
    // A category that gets its name meanwhile is found.
    await service.nameCategory(10n, "Fish");
    await press(dialog, "Import 5 animals");
    await press(dialog, "Done");
    await row(page, "Nemo").getByText("Fish").waitFor();
    const downloading = page.waitForEvent("download");
    await press(page, "Export");
    const stream = await (await downloading).createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    const lines = text.replace("\ufeff", "").split("\r\n");
    assertMatch(lines[0], /^Name,Category,Status,Note,(?:.*,)?Id$/);
    assertEquals(lines.slice(1, -1).map((it) => it.replace(/,+\d+$/, "")).toSorted(), [
      "Kiki,9",
      "Mia,Cats",
      "Nemo,Fish",
      "Rex,'=Dogs",
      "Zoe,Cats",
    ]);
    await expectSoon(() => page.locator(ROWS).count(), 5);
  },
);

testInBrowser(
  "a name that somebody else gives at the same time is not replaced",
  async ({ service, open, network }) => {
    await service.add({ name: "Rex", categoryId: 12 });
    /** The names that somebody else gives just before a category gets one here. */
    const faster = new Map<string, string>();
    network.fetch = async (request) => {
      const [, id = ""] = /\/categories\/(\d+)$/.exec(request.url) ?? [];
      const name = faster.get(id);
      if (request.method === "PUT" && name !== undefined) {
        faster.delete(id);
        await (await service.nameCategory(id, name)).body?.cancel();
      }
      return await service.fetch(request);
    };
    const page = await open(`/window?page=categories#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    faster.set("12", "Fish");
    await press(page, "Name it: Category 12");
    await dialog.getByLabel("Name").fill("Birds");
    await press(dialog, "Save");
    await dialog.getByText("Category 12 has the name Fish already").waitFor();
    await press(dialog, "Cancel");
    await press(dialog.filter({ hasText: "Discard" }), "Discard");
    // A new category gets the next id.
    faster.set("13", "Cats");
    await press(page, "Add a category");
    await dialog.getByLabel("Name").fill("Owls");
    await press(dialog, "Add");
    await toast(page, "Owls was added").waitFor();
    assertEquals(await service.listCategories(), [
      { id: 12n, name: "Fish" },
      { id: 13n, name: "Cats" },
      { id: 14n, name: "Owls" },
    ]);
  },
);

testInBrowser(
  "nothing that is not there is asked for when a category is added with an animal, or gets a name",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 12 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const missing: string[] = [];
    page.on("response", (response: Page) => {
      if (response.status() >= 400) missing.push(response.url());
    });
    await press(page, "Add an animal");
    await dialog.getByLabel("Name").fill("Tweety");
    await dialog.getByLabel("Category").fill("Birds");
    await page.getByRole("option", { name: "Add a category" }).click();
    await press(dialog, "Add");
    await row(page, "Tweety").filter({ hasText: "Birds" }).waitFor();
    await page.getByRole("link", { name: "Categories" }).click();
    await press(page, "Name it: Category 12");
    await dialog.getByLabel("Name").fill("Fish");
    await press(dialog, "Save");
    await toast(page, "Category 12 is Fish now").waitFor();
    assertEquals(missing, []);
  },
);

testInBrowser(
  "after the animals of a category have moved or its name is removed, the focus is on the heading",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Hounds");
    await service.add({ name: "Rex", categoryId: 8 });
    const page = await open(`/window?page=categories#key=${service.token}`);
    const heading = page.getByRole("heading", { name: "Categories", exact: true });
    await press(page, "Move animals of Hounds");
    await page.keyboard.type("dog");
    for (const key of ["Enter", "Enter"]) await page.keyboard.press(key);
    // Pointed at, the message stays, whose end would also restore the focus.
    await toast(page, "1 animal moved to Dogs").hover();
    await expectSoon(() => countsOf(page), ["Dogs 1", "Hounds 0"]);
    await expectFocus(heading);
    await press(page, "Remove Hounds");
    await press(page.getByRole("dialog"), "Remove name");
    await toast(page, "The name Hounds was removed").hover();
    await expectSoon(() => countsOf(page), ["Dogs 1"]);
    await expectFocus(heading);
  },
);

testInBrowser(
  "after typing, the first Arrow down is on the first category that matches, and not on a new one",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Dormice");
    const page = await open(`/window#key=${service.token}`);
    const field = page.getByRole("dialog").getByRole("combobox", { name: "Category" });
    await press(page, "Add an animal");
    const choose = async (typed: string, ...keys: string[]) => {
      await field.fill("");
      await field.pressSequentially(typed);
      await option(page, `Add a category “${typed}”`).waitFor();
      for (const key of keys) await page.keyboard.press(key);
      return await field.inputValue();
    };
    assertEquals(await choose("Dog", "ArrowDown", "Enter"), "Dogs");
    assertEquals(await choose("Do", "ArrowDown", "Enter"), "Dogs");
    assertEquals(await choose("Do", "ArrowDown", "ArrowDown", "Enter"), "Dormice");
    assertEquals(await choose("Dog", "ArrowDown", "ArrowDown", "Enter"), "Dog");
    assertEquals(await choose("Fish", "ArrowDown", "Enter"), "Fish");
    assertEquals(await service.listCategories(), [
      { id: 7n, name: "Dogs" },
      { id: 8n, name: "Dormice" },
    ]);
  },
);

testInBrowser(
  "a category that should get the name of another one offers to move its animals there",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Hounds");
    await service.nameCategory(9n, "Birds");
    await service.add({ name: "Rex", categoryId: 8 });
    await service.add({ name: "Mia", categoryId: 12 });
    const page = await open(`/window?page=categories#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await expectSoon(() => countsOf(page), ["Birds 0", "Dogs 0", "Hounds 1", "Category 12 1"]);
    const stages = [
      { action: "Rename Hounds", after: ["Birds 0", "Dogs 1", "Hounds 0", "Category 12 1"] },
      { action: "Name it: Category 12", after: ["Birds 0", "Dogs 2", "Hounds 0"] },
    ];
    for (const { action, after } of stages) {
      await press(page, action);
      await dialog.getByLabel("Name").fill("dogs");
      await page.keyboard.press("Enter");
      await dialog.getByText("Another category has this name").waitFor();
      await expectAccessible(page, "a name that another category has");
      await press(dialog, "Move its animals to Dogs");
      await dialog.getByText("to Dogs? You can stop it").waitFor();
      await press(dialog, "Move");
      await toast(page, "1 animal moved to Dogs").waitFor();
      await expectSoon(() => countsOf(page), after);
    }
    // An empty category has nothing to move.
    await press(page, "Rename Birds");
    await dialog.getByLabel("Name").fill("dogs");
    await page.keyboard.press("Enter");
    await dialog.getByText("Another category has this name").waitFor();
    assertEquals(await dialog.getByRole("button", { name: /^Move/ }).count(), 0);
  },
);
