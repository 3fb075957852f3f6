/** The import of CSV files, as people use it. */

import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { type Page, testInBrowser } from "../../support/chromium.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { expectSoon } from "../../support/expect_soon.ts";
import { fillStore } from "../../support/fill_store.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import type { TestService } from "../../support/test_service.ts";
import { until } from "../../support/until.ts";
import { filesOfWorkbook, rowOf, workbookOf } from "../../support/workbook_of.ts";
import { zipOf } from "../../support/zip_of.ts";
import {
  button,
  expectAccessible,
  expectFocus,
  focusOn,
  pickFrom,
  press,
  row,
  toast,
} from "../../support/window_controls.ts";

/** Lines in flight: those of a batch. */
const LINES_IN_FLIGHT = 100;

const isBatch = ({ url }: Request) => url.endsWith("/pets/batch");

const LINES = 300;

testInBrowser(
  "an import shows what it will do, adds the animals, and names each line that failed",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    network.fetch = async (request) => {
      if (!isBatch(request)) return await service.fetch(request);
      const body = (await request.clone().text()).replace('"Bad"', '""');
      const response = await service.fetch(new Request(request, { body }));
      const message = 'Field "categoryId" is out of fashion';
      const error = JSON.stringify({ code: "invalid_body", status: 400, message });
      const results = (await response.text()).replace(/{"code":"invalid_body".*?}/, error);
      return new Response(results, response);
    };
    await choose(
      page,
      'Status;NAME;Colour;Category\r\nSold; "Rex; ""the dog""" ;brown;7.0\r\n' +
        ";Mia;;x\r\nlost;Zoe;;8\r\n;Bad;;9\r\n;Max;;9223372036854775807\r\n;   ;;9\r\n",
    );
    await dialog.getByText("Left out: Colour").waitFor();
    await dialog.getByText("Columns and encoding").click();
    const found = async () => (await chosenColumns(dialog)).filter((it) => it !== "(none)");
    await expectSoon(found, ["NAME", "Category", "Status"]);
    await dialog.getByRole("row", { name: 'Rex; "the dog" Category 7 Sold' }).waitFor();
    const leftOut = dialog.getByRole("group", { name: "3 animals are left out" });
    for (
      const [cause, line] of [
        ["Line 3: There is no category “x”", ";Mia;;x"],
        ["Line 4: Status must be Available, Pending or Sold", "lost;Zoe;;8"],
        ["Line 7: Name is missing", ";   ;;9"],
      ]
    ) {
      await leftOut.getByText(cause).click();
      await leftOut.getByRole("listitem").getByText(line).waitFor();
    }
    assertEquals(await service.listIds(), []);
    await expectAccessibleEverywhere(page, "preview");
    await press(dialog, "Import 3 animals");
    await dialog.getByText("2 animals were added.").waitFor();
    const failed = dialog.getByRole("group", { name: "4 animals were not imported" });
    await failed.getByText("Line 5: Category is out of fashion").click();
    await failed.getByText(";Bad;;9").waitFor();
    await expectAccessibleEverywhere(page, "report");
    assertEquals(await downloaded(page, "Download these lines with their reasons"), [
      "Status,NAME,Colour,Category,Line,Reason",
      ",Mia,,x,3,There is no category “x”",
      'lost,Zoe,,8,4,"Status must be Available, Pending or Sold"',
      ",Bad,,9,5,Category is out of fashion",
      ",,,9,7,Name is missing",
    ]);
    await press(dialog, "Done");
    await row(page, 'Rex; "the dog"').waitFor();
    await row(page, "Max").filter({ hasText: "9223372036854775807" }).waitFor();
    assertEquals(await petsOf(service), [['Rex; "the dog"', "sold"], ["Max", undefined]]);
  },
);

testInBrowser(
  "a corrected file adds only what is missing, and the dialog says what was there already",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const header = "Name,Category,Status\n";
    await choose(page, `${header}Ada,1,available\nBen,1,\nCleo,1,adopted\nBen,1,\n`);
    await dialog.getByRole("heading", { name: "1 animal is left out" }).waitFor();
    await dialog.getByText("3 animals to add, 1 animal left out").waitFor();
    // The file leaves nothing open.
    await expectSoon(() => dialog.getByRole("combobox", { name: "Encoding" }).count(), 0);
    await dialog.getByText("Columns and encoding").click();
    await dialog.getByRole("combobox", { name: "Encoding" }).waitFor();
    await press(dialog, "Import 3 animals");
    await dialog.getByText("3 animals were added.").waitFor();
    await dialog.getByRole("heading", { name: "1 animal was not imported" }).waitFor();
    await press(dialog, "Done");
    await choose(page, `${header}Dora,2,\nAda,1,available\nBen,1,\nCleo,1,sold\nBen,1,\n`);
    // The preview says what the report will say.
    await dialog.getByText("2 animals to add, 3 animals here already", { exact: true }).waitFor();
    await dialog.getByText("3 animals: Added by an earlier import in the last 24 hours").waitFor();
    await press(dialog, "Import 2 animals");
    await dialog.getByText(
      "2 animals were added. 3 animals were here already.",
    ).waitFor();
    await dialog.getByText("3 animals: Added by an earlier import in the last 24 hours").click();
    await expectSoon(() => dialog.getByRole("listitem").allInnerTexts(), [
      "Line 3\nAda,1,available",
      "Line 4\nBen,1,",
      "Line 6\nBen,1,",
    ]);
    const names = async () => (await petsOf(service)).map(([name]) => name).sort();
    assertEquals(await names(), ["Ada", "Ben", "Ben", "Cleo", "Dora"]);
    // They may be others that are alike.
    await press(dialog, "Add 3 animals again");
    await dialog.getByText("3 animals were added.", { exact: true }).waitFor();
    await expectFocus(button(dialog, "Done"));
    assertEquals((await names()).filter((name) => name === "Ben").length, 4);
    assertEquals((await names()).length, 8);
    await press(dialog, "Done");
    await choose(page, `${header}Cleo,1,sold\n`);
    await dialog.getByText("Nothing to import, 1 animal here already").waitFor();
    await press(dialog, "Add 1 animal again");
    await dialog.getByText("1 animal was added.", { exact: true }).waitFor();
  },
);

testInBrowser(
  "an import groups the lines that it leaves out by their causes, and adds the categories that they name",
  async ({ service, network, open }) => {
    await service.nameCategory(3n, "Dogs");
    await service.add({ name: "Rex", categoryId: 4 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const causes = () => dialog.locator("summary").filter({ hasText: ": " }).allInnerTexts();
    const birds = Array.from(
      { length: 41 },
      (_, index) => `Tit ${index},${index ? "BIRDS" : "Birds"}`,
    );
    const others = ["Nemo,Fish", ",Fish", "Kaa,Snakes", "Eel,Fish", "Mia,dogs"];
    await choose(page, ["name,category", ...birds, ...others].join("\n"));
    await dialog.getByText("1 animal to add, 45 animals left out").waitFor();
    await expectSoon(causes, [
      "41 animals: There is no category “Birds”",
      "2 animals: There is no category “Fish”",
      "Line 44: Name is missing; There is no category “Fish”",
      "Line 45: There is no category “Snakes”",
    ]);
    await dialog.getByText("There is no category “Birds”").click();
    await expectSoon(() => dialog.getByRole("listitem").count(), 10);
    await dialog.getByText("and 31 more").waitFor();
    await expectAccessibleEverywhere(page, "causes");
    network.fetch = (request) => {
      if (request.method !== "PUT") return service.fetch(request);
      const error = { code: "forbidden", status: 403, message: "The API key may only read" };
      return Promise.resolve(Response.json(error, { status: 403 }));
    };
    await press(dialog, "Add “Birds”");
    await dialog.getByRole("alert").getByText("The API key may only read").waitFor();
    network.fetch = service.fetch;
    await press(dialog, "Add “Birds”");
    await dialog.getByText("42 animals to add, 4 animals left out").waitFor();
    await expectFocus(button(dialog, "Import 42 animals"));
    assertEquals(await dialog.getByText("The API key may only read").count(), 0);
    await press(dialog, "Add the 2 missing categories");
    await expectSoon(causes, ["Line 44: Name is missing"]);
    await expectFocus(button(dialog, "Import 45 animals"));
    await page.keyboard.press("Enter");
    await dialog.getByText("45 animals were added.").waitFor();
    const categories = await (await service.send("/v1/categories")).json();
    assertEquals(categories.map(({ id, name }: { id: number; name: string }) => [id, name]), [
      [3, "Dogs"],
      // An animal has category 4 already.
      [5, "Birds"],
      [6, "Fish"],
      [7, "Snakes"],
    ]);
    await press(dialog, "Done");
    const kinds = Array.from({ length: 25 }, (_, index) => `Max,Kind ${index}`);
    await choose(page, ["name,category", ...kinds].join("\n"));
    await dialog.getByText("and 5 animals more, for other reasons").waitFor();
    await expectSoon(async () => (await causes()).length, 20);
  },
);

testInBrowser(
  "an import counts an animal for each line that an open quote leaves out, and says how to correct it",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const names = Array.from({ length: 21 }, (_, index) => `Mäuschen ${index};7;sold`);
    const first = ["Name;Kategorie;Status", "Bello;7;sold", ";7;", ";8;"];
    await choose(page, [...first, '"Offen;7;available', ...names].join("\n"));
    await dialog.getByText("1 animal to add, 24 animals left out").waitFor();
    const leftOut = dialog.getByRole("group", { name: "24 animals are left out" });
    await expectSoon(() => leftOut.locator("summary").allInnerTexts(), [
      "Lines 5–26: Line 5 has a quote that is open to the end of the file. Close or delete it, and choose the file again",
      "2 animals: Name is missing",
    ]);
  },
);

testInBrowser(
  "an import counts a row whose cell has line breaks as one animal, and names the line at which it begins",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const rows = ['Rex,7,lost,"a\nb\nc"', 'Mia,Birds,,"d\ne"', "Tom,Birds,,", 'Zoe,7,,"f\ng"'];
    await choose(page, ["name,category,status,note", ...rows].join("\n"));
    await dialog.getByText("1 animal to add, 3 animals left out", { exact: true }).waitFor();
    const leftOut = dialog.getByRole("group", { name: "3 animals are left out" });
    await leftOut.getByText("Line 2: Status must be Available, Pending or Sold").waitFor();
    await leftOut.getByText("2 animals: There is no category “Birds”").click();
    await leftOut.getByText("Line 5", { exact: true }).waitFor();
    await leftOut.getByText("Line 7", { exact: true }).waitFor();
    await dialog.getByText("“lost”, 1 animal", { exact: true }).waitFor();
    await dialog.getByRole("region", { name: "New animals" })
      .getByRole("row", { name: "8 Zoe", exact: false }).waitFor();
    await press(dialog, "Import 1 animal");
    await dialog.getByRole("heading", { name: "3 animals were not imported" }).waitFor();
    await press(dialog, "Done");
  },
);

testInBrowser(
  "the preview of an import shows the first lines, and breaks no word on a narrow page",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    const dialog = page.getByRole("dialog");
    const names = Array.from({ length: 34 }, (_, index) => `M\u00e4uschen ${index};7;available`);
    await service.nameCategory(7n, "Meerschweinchen");
    await choose(page, ["Name;Kategorie;Status", ...names].join("\n"));
    await dialog.getByText("The first 15 of 34, then 5 of the others with accents or line breaks")
      .waitFor();
    const rows = dialog.getByRole("table").getByRole("row");
    await expectSoon(() => rows.count(), 21);
    assertEquals((await rows.nth(15).innerText()).split("\t").slice(0, 2), [
      "16",
      "M\u00e4uschen 14",
    ]);
    // A word that is broken has a line of its own.
    const word = rows.nth(15).getByText("M\u00e4uschen 14");
    const widths = await word.evaluate((it: Page) => {
      const range = it.ownerDocument.createRange();
      range.setStart(it.firstChild, 0);
      range.setEnd(it.firstChild, "M\u00e4uschen".length);
      return range.getClientRects().length;
    });
    assertEquals(widths, 1);
  },
);

testInBrowser(
  "an import reads cells with line breaks and with what nobody sees, and names numbers that a spreadsheet has rounded",
  async ({ service, open }) => {
    const large = 9_007_199_254_740_993n;
    await service.nameCategory(7n, "Dogs");
    await service.nameCategory(8n, "Cats");
    await service.nameCategory(large, "Reptiles");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await choose(
      page,
      'Name,Category,Care\r\nBella,Dogs,"Good with children.\r\nLoves cats, dogs, and long walks"\r\n' +
        'Milo,Cats,"Shy at first"\r\n',
    );
    await dialog.getByText("2 animals to add", { exact: true }).waitFor();
    await dialog.getByRole("row", { name: "2 Bella Dogs" }).waitFor();
    await press(dialog, "Import 2 animals");
    await dialog.getByText("2 animals were added.").waitFor();
    await press(dialog, "Done");
    await choose(
      page,
      "name,categoryId,status,id,categoryName\r\nBella,9.0072E+15,sold,1,Reptiles\r\n",
    );
    await dialog.getByText(
      "Line 2: Category is a number that a spreadsheet has rounded: 9.0072E+15",
    ).waitFor();
    assertEquals(await button(dialog, /^Add/).count(), 0);
    await choose(
      page,
      "Name,Category\nBella,Dogs\u200b\nMilo,\ufeffCats\nM\u00e1x,Dogs\nMa\u0301x,Dogs\n",
    );
    // Two are the same lines as in the first file.
    await dialog.getByText("2 animals to add, 2 animals here already", { exact: true }).waitFor();
    await dialog.getByRole("row", { name: "4 Máx Dogs" }).waitFor();
    await press(dialog, "Import 2 animals");
    await dialog.getByText("2 animals were added. 2 animals were here already.").waitFor();
    await press(dialog, "Done");
    await choose(page, "Name,Category\nMa\u0301\u200bx,Dogs\n");
    await dialog.getByText("Nothing to import, 1 animal here already").waitFor();
  },
);

testInBrowser(
  "a file is chosen by the keyboard, or dropped on the page, and an example shows what it needs",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("checkbox", { name: "Select Rex" }).click();
    await press(page, "Import");
    await expectFocus(button(dialog, "Choose a file"));
    await expectAccessibleEverywhere(page, "no file");
    const { text } = await savedBy(page, "Download an example");
    const choosing = page.waitForEvent("filechooser");
    await focusOn(button(dialog, "Choose a file"));
    await page.keyboard.press("Enter");
    const files = await choosing;
    // Nobody has chosen one.
    await dialog.getByLabel("File").dispatchEvent("cancel", { bubbles: true });
    await expectFocus(button(dialog, "Choose a file"));
    await files.setFiles(await fileOf(text));
    await dialog.getByText("Nothing to import, 3 animals left out").waitFor();
    await expectFocus(button(dialog, "Choose another file"));
    await press(dialog, "Add the 3 missing categories");
    await button(dialog, "Import 3 animals").waitFor();
    const dropped = await page.evaluateHandle(`(() => {
      const dropped = new DataTransfer();
      dropped.items.add(new File(["name,category\\nMia,7"], "mia.csv"));
      return dropped;
    })()`);
    await dialog.dispatchEvent("dragover", { dataTransfer: dropped });
    await dialog.dispatchEvent("drop", { dataTransfer: dropped });
    await dialog.getByRole("heading", { name: "Import mia.csv" }).waitFor();
    await press(dialog, "Import 1 animal");
    await dialog.getByText("1 animal was added.").waitFor();
    await press(dialog, "Done");
    await row(page, "Mia").waitFor();
    // What was selected before may be out of sight now.
    assertEquals(await page.getByRole("group", { name: "Selected animals" }).count(), 0);
  },
);

testInBrowser(
  "each control of an import is large enough for a finger, also with large text",
  async ({ service, open }) => {
    const touch = { width: 390, hasTouch: true, isMobile: true };
    const page = await open(`/window#key=${service.token}`, touch);
    const dialog = page.getByRole("dialog");
    const heights = async () => {
      const controls = dialog.locator("button:visible, summary:visible");
      const boxes = (await controls.all()).map((control: Page) => control.boundingBox());
      return (await Promise.all(boxes)).map(({ height }) => Math.round(height));
    };
    await press(page, "Import");
    await button(dialog, "Choose a file").waitFor();
    assertEquals((await heights()).filter((height) => height < 44), []);
    await choose(page, `name,category\nMia,${"Birds of paradise ".repeat(9)}\nTom,Fish\nRex,7\n`);
    await button(dialog, "Add the 2 missing categories").waitFor();
    await dialog.getByText("There is no category “Fish”").click();
    await dialog.getByText("Columns and encoding").click();
    assertEquals((await heights()).filter((height) => height < 44), []);
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    const overflow = (part: Page) => part.evaluate((it: Page) => it.scrollWidth - it.clientWidth);
    for (const part of [dialog, button(dialog, "Import 1 animal")]) {
      await expectSoon(() => overflow(part), 0);
    }
  },
);

testInBrowser(
  "an import names an assumed encoding, shows its letters, and takes another one",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const lines = Array.from({ length: 30 }, (_, index) => `Animal ${index};7\r\n`);
    await choose(
      page,
      bytesOf(`Name;Category\r\n${lines.join("")}\xafaba;8\r\nPu\xb9e\xb3ek;7\r\n`),
    );
    await dialog.getByText("If letters below look wrong").waitFor();
    await dialog.getByRole("row", { name: "¯aba" }).waitFor();
    await pickFrom(dialog, "Encoding", "Central European (Windows-1250)");
    await dialog.getByRole("row", { name: "Żaba" }).waitFor();
    await dialog.getByText("If letters below look wrong").waitFor({ state: "hidden" });
    await press(dialog, "Import 32 animals");
    await dialog.getByText("32 animals were added.").waitFor();
    const names = (await petsOf(service)).map(([name]) => name);
    assert(names.includes("Puąełek") && names.includes("Żaba"));
    await press(dialog, "Done");
    const broken = new Uint8Array([
      ...new TextEncoder().encode("Name,Category\nŽofie,7\nŁatka,7\n"),
      ...bytesOf("J\xfcrgen,9\n"),
    ]);
    await choose(page, broken);
    await dialog.getByRole("row", { name: "Žofie" }).waitFor();
    await dialog.getByText("The line has a character that is not UTF-8").waitFor();
  },
);

testInBrowser(
  "a person chooses which columns are the name, the category and the status",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    // Without https, a page has only a part of the functions of cryptography.
    await page.evaluate("Object.defineProperty(crypto, 'subtle', { value: undefined })");
    await choose(page, "animal_id,kind_no,called,state\nA1,3,*MOCHI,sold\nA2,4,,\nA3,5,Tom,\n");
    await dialog.getByText("Choose the column of Name and Category").waitFor();
    assertEquals(await button(dialog, /^Import/).count(), 0);
    await expectFocus(dialog.getByRole("combobox", { name: "Name" }));
    await pickFrom(dialog, "Name", "called");
    await dialog.getByText("Choose the column of Category").waitFor();
    await pickFrom(dialog, "Category", "kind_no");
    await pickFrom(dialog, "Status", "state");
    await dialog.getByText("Name is missing").waitFor();
    await press(dialog, "Import 2 animals");
    await dialog.getByText("2 animals were added.").waitFor();
    const names = (await petsOf(service)).map(([name]) => name);
    assertEquals(names.sort(), ["*MOCHI", "Tom"]);
    await press(dialog, "Done");
    await choose(page, bytesOf("Name;kind\nJ\xfcrgen;3\n"));
    await expectFocus(dialog.getByRole("combobox", { name: "Category" }));
    const hint = dialog.getByText("If letters below look wrong");
    await hint.waitFor();
    await pickFrom(dialog, "Category", "kind");
    await hint.waitFor();
    const letters = dialog.getByRole("cell", { name: "J\xfcrgen" }).first();
    assertLess((await hint.boundingBox()).y, (await letters.boundingBox()).y);
    await choose(page, bytesOf("Name;Gr\xf6\xdfe\nRex;3\n"));
    await hint.waitFor();
    // Nobody sees such letters as long as no column is chosen.
    await choose(page, bytesOf(`Name;kind\n${"Rex;3\n".repeat(3)}J\xfcrgen;3\n`));
    await hint.waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "an exported file that was edited changes the animals with its ids",
  async ({ service, network, open }) => {
    const names = ["Rex", "=1+1", "Zoë", "Mia", "Tom"];
    for (const name of names) await service.add({ name, categoryId: 7, status: "available" });
    await service.nameCategory(3n, "Dogs");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const exported = await exportOf(page);
    const [header] = exported.split("\r\n");
    // Without a status, a note and fields that were added since.
    const others = ",".repeat(header.split(",").length - 2);
    const edited = exported
      .replace("Rex,7,available,", "Rex II,7,sold,")
      .replace("Mia,7,available,", "Mia,8.0,available,")
      .replace("Zoë,7,available,", "Zoë,dogs,available,")
      .replace("Tom,7,available,", "Tom,7,,") +
      `Nobody,7${others}99\r\nNew,9${others}\r\n`;
    // Files of earlier versions have two columns of the category.
    await choose(page, "name,categoryId,status,id,categoryName\r\nRex,7,available,1,Dogs\r\n");
    await dialog.getByText("What categoryName says is not imported").waitFor();
    await choose(page, edited);
    await dialog.getByText(/, 1 animal up to date already, /).waitFor();
    await dialog.getByRole("row", { name: /Rex Name: Rex → Rex II Status: Available → Sold/ })
      .waitFor();
    await dialog.getByRole("row", { name: "Zoë Category: Category 7 → Dogs" }).waitFor();
    await dialog.getByText("There is no animal with this id").waitFor();
    await expectAccessibleEverywhere(page, "changes");
    const again = dialog.getByRole("radio", { name: "Add all as new animals" });
    await again.check();
    await button(dialog, "Import 7 animals").waitFor();
    await dialog.getByRole("radio", { name: "Change the animals with these ids" }).check();
    // Somebody changes an animal after the preview, and one response is lost.
    await button(dialog, "Change 4 animals and add 1 animal").waitFor();
    await service.change(4, { name: "Mia Ann" });
    let lost = 0;
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      const isLost = isBatch(request) && lost++ === 0;
      return isLost ? new Response(null, { status: 502 }) : response;
    };
    await press(dialog, "Change 4 animals and add 1 animal");
    await dialog.getByText("1 animal was added. 3 animals were changed.").waitFor();
    await dialog.getByText(/^Somebody else changed the animal meanwhile/).waitFor();
    assertEquals(await petsOf(service), [
      ["Rex II", "sold"],
      ["=1+1", "available"],
      ["Zoë", "available"],
      ["Mia Ann", "available"],
      ["Tom", undefined],
      ["New", undefined],
    ]);
  },
);

testInBrowser(
  "an import adds each line once, although responses are lost, and draws the page some times a second",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Performance.enable");
    const layouts = async () => {
      const { metrics } = await devTools.send("Performance.getMetrics");
      return metrics.find(({ name }: { name: string }) => name === "LayoutCount").value;
    };
    let posts = 0;
    network.fetch = async (request) => {
      if (request.method !== "POST") return await service.fetch(request);
      const place = ++posts % 50;
      if (place === 1) return Response.json({ message: "Wait" }, { status: 503 });
      const response = await service.fetch(request);
      return place === 2 ? new Response(null, { status: 502 }) : response;
    };
    await choose(page, "name,category\n" + "Rex,7\nMia,8\n".repeat(150));
    await button(dialog, "Import 300 animals").waitFor();
    const before = await layouts();
    const start = performance.now();
    await press(dialog, "Import 300 animals");
    await expectFocus(button(dialog, "Stop"));
    await dialog.getByText("300 animals were added.", { exact: true }).waitFor();
    const seconds = (performance.now() - start) / 1_000;
    assertLess((await layouts() - before) / seconds, 25);
    await expectFocus(button(dialog, "Done"));
    assertEquals((await petsOf(service)).length, 300);
  },
);

testInBrowser(
  "an import under a rate limit, killed and repeated, adds each line once",
  async ({ open }) => {
    await using temp = await TempStore.make();
    const token = await fillStore(temp.kvPath, 0);
    await using service = await ServiceProcess.start(temp.kvPath, { RATE_LIMIT: "40" });
    const lines = Array.from({ length: LINES }, (_, line) => `Animal ${line},${line % 9}\r\n`);
    const text = ["name,category\r\n", ...lines].join("");
    const total = async () => {
      const response = await service.send("/v1/pets?limit=1", token);
      await response.body?.cancel();
      // The limit refuses some of these requests.
      assert(response.ok);
      return Number(response.headers.get("x-total-count"));
    };
    const start = async () => {
      const page = await open(`/window#key=${token}`, { address: service.address });
      await choose(page, text);
      await press(page.getByRole("dialog"), "Import 300 animals");
      return page;
    };
    const killed = await start();
    const progress = killed.getByRole("dialog").getByRole("progressbar");
    await until(async () => Number(await progress.getAttribute("value")) > LINES / 4);
    await killed.close();
    await until(async () => assertLess(await total(), LINES));
    for (
      const outcome of [
        /Added by an earlier import/,
        /^0 animals were added. 300 animals were here already/,
      ]
    ) {
      const page = await start();
      await page.getByRole("dialog").getByText(outcome).waitFor();
      await until(async () => assertEquals(await total(), LINES));
      await page.close();
    }
  },
);

testInBrowser(
  "an import that is stopped completes the lines in flight, and says how to continue",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    let [active, most] = [0, 0];
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.method !== "POST") return await service.fetch(request);
      active++;
      most = Math.max(most, active);
      await gate.promise;
      active--;
      return await service.fetch(request);
    };
    await choose(page, "name,category\n" + "Rex,7\n".repeat(500));
    await press(dialog, "Import 500 animals");
    await until(() => active === 1);
    await page.keyboard.press("Escape");
    gate.resolve();
    await dialog.getByText(
      `The import was stopped: ${500 - LINES_IN_FLIGHT} animals are not imported`,
    )
      .waitFor();
    assertEquals((await service.listIds("limit=100")).length, LINES_IN_FLIGHT);
    assertEquals(most, 1);
    await press(dialog, "Done");
    await dialog.waitFor({ state: "detached" });
    // It ends by itself if the key may not write.
    network.fetch = (request) => {
      if (request.method !== "POST") return service.fetch(request);
      const message = "The API key may only read";
      const error = { code: "read_only_key", status: 403, message };
      return Promise.resolve(Response.json(error, { status: 403 }));
    };
    await choose(page, "name,category\n" + "Mia,7\n".repeat(20));
    await press(dialog, "Import 20 animals");
    await dialog.getByRole("alert").getByText("The API key may only read").waitFor();
    await dialog.getByText("The import was stopped: 20 animals are not imported").waitFor();
  },
);

testInBrowser(
  "three rows of the file stand under its columns, a word of the status is explained once, and missing categories are added at once",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const lines = Array.from({ length: 12 }, (_, index) => `Bello ${index};Hunde;frei`);
    const others = ["Mia;Katzen;FREI", ";Katzen;?", "Nemo;Fische;verkauft", "Kaa;9;sold"];
    await choose(page, ["Rufname;Tier;Zustand", ...lines, ...others].join("\n"));
    const first = dialog.getByRole("region", { name: "First lines" });
    await expectSoon(() => first.getByRole("columnheader").allInnerTexts(), [
      "Rufname\nName",
      "Tier\nnot imported",
      "Zustand\nnot imported",
    ]);
    await expectSoon(() => first.getByRole("row").count(), 4);
    await first.getByRole("row", { name: "Bello 2 Hunde frei" }).waitFor();
    await pickFrom(dialog, "Category", "Tier");
    await first.getByRole("columnheader", { name: "Tier Category" }).waitFor();
    await pickFrom(dialog, "Status", "Zustand");
    const words = dialog.getByRole("group", { name: "What these words in Status mean" });
    await expectSoon(() => words.getByRole("combobox").count(), 3);
    await expectAccessibleEverywhere(page, "words of the status");
    await pickFrom(words, "“frei”, 13 animals", "Available");
    await pickFrom(words, "“verkauft”, 1 animal", "Sold");
    // By the keyboard: letters choose.
    await focusOn(words.getByRole("combobox", { name: "“?”, 1 animal" }));
    await page.keyboard.type("No");
    await dialog.getByText("Line 15: Name is missing; There is no category “Katzen”").waitFor();
    await dialog.getByText("1 animal to add, 15 animals left out").waitFor();
    await press(dialog, "Add the 3 missing categories");
    await button(dialog, "Import 15 animals").waitFor();
    const causes = dialog.locator("summary").filter({ hasText: ": " });
    await expectSoon(() => causes.allInnerTexts(), ["Line 15: Name is missing"]);
    await press(dialog, "Import 15 animals");
    await dialog.getByText("15 animals were added.").waitFor();
    const statuses = (await petsOf(service)).map(([, status]) => status).sort();
    assertEquals(statuses, [...Array(13).fill("available"), "sold", "sold"]);
    await press(dialog, "Done");
    // A category is offered also if something else is wrong with each of its lines.
    await choose(page, "name,category\n,Birds\n");
    await press(dialog, "Add the missing category");
    await expectSoon(() => causes.allInnerTexts(), ["Line 2: Name is missing"]);
    await press(dialog, "Cancel");
    // Only the status has no column, and one that nobody knows may be it.
    await choose(page, "name,category,Zustand\nRex,7,frei\n");
    await pickFrom(dialog, "Status", "Zustand");
    await words.getByRole("combobox").waitFor();
  },
);

testInBrowser(
  "an import is undone later, in another tab, except for what somebody has changed since",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7, status: "sold" });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const file =
      "id,name,category,status\n1,Rex II,8,\n2,Mia,7,pending\n,Tom,7,\n,Zoe,7,\n,Bo,7,\n";
    await choose(page, file);
    await press(dialog, "Change 2 animals and add 3 animals");
    await dialog.getByText("You can undo this import for a day.").waitFor();
    await expectAccessibleEverywhere(page, "an import that can be undone");
    await press(dialog, "Done");
    await service.change(2, { name: "Mia Ann" });
    await service.change(4, { status: "sold" });
    await service.remove(5);
    const other = await open("/window", { beside: page, width: 390 });
    const dialogThere = other.getByRole("dialog");
    await openImport(other);
    await dialogThere.getByRole("heading", { name: "Imported in the last 24 hours" }).waitFor();
    await dialogThere.getByText("animals.csv, 5 animals, just now").waitFor();
    await expectAccessibleEverywhere(other, "past imports");
    await focusOn(button(dialogThere, "Undo the import of animals.csv"));
    await other.keyboard.press("Enter");
    await dialogThere.getByText(
      "3 animals will be removed, and 2 animals will get back what they had.",
    ).waitFor();
    await press(other, "Undo the import");
    await dialogThere.getByRole("heading", { name: "2 animals were not set back" }).waitFor();
    await dialogThere.getByText("Undone: the import of 2 animals.").waitFor();
    for (const name of ["Mia Ann", "Zoe"]) {
      await dialogThere.getByRole("row", { name: `${name} ` })
        .getByText("Somebody has changed it since").waitFor();
    }
    assertEquals(await petsOf(service), [["Rex", "sold"], ["Mia Ann", "pending"], ["Zoe", "sold"]]);
    await press(dialogThere, "Close");
    // It is offered only once, and the same file adds the animals again that are gone.
    await page.reload();
    await choose(page, file);
    await dialog.getByRole("radio", { name: /^Add all/ }).check();
    await dialog.getByText("4 animals to add, 1 animal here already").waitFor();
    await press(dialog, "Cancel");
    await openImport(page);
    await button(dialog, "Choose a file").waitFor();
    assertEquals(await dialog.getByText("Imported in the last").count(), 0);
  },
);

testInBrowser(
  "an import that is undone can be imported again, and undone again, and another key sees nothing of it",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const file = "name,category\nTom,7\nZoe,7\n";
    for (let round = 1; round <= 2; round++) {
      await choose(page, file);
      await press(dialog, "Import 2 animals");
      await dialog.getByText("2 animals were added.", { exact: true }).waitFor();
      assertEquals((await petsOf(service)).length, 2);
      await press(dialog, "Undo the import of animals.csv");
      await press(page, "Undo the import");
      await toast(page, "Undone: the import of 2 animals").waitFor();
      await until(async () => assertEquals(await petsOf(service), []));
    }
    await choose(page, file);
    await press(dialog, "Import 2 animals");
    await press(dialog, "Done");
    await openImport(page);
    await dialog.getByText("animals.csv, 2 animals").waitFor();
    await press(dialog, "Cancel");
    const { token } = await issueApiKey(service, { label: "other" });
    await page.goto("about:blank");
    const other = await open(`/window#key=${token}`, { beside: page });
    const dialogOfOther = other.getByRole("dialog");
    await row(other, "Tom").waitFor();
    await openImport(other);
    await button(dialogOfOther, "Choose a file").waitFor();
    await choose(other, file);
    await button(dialogOfOther, "Import 2 animals").waitFor();
    assertEquals(await dialogOfOther.getByText("Imported in the last").count(), 0);
  },
);

testInBrowser(
  "the script of the import is loaded when somebody opens it, and again after a failure",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const loads: string[] = [];
    page.on("request", (request: Page) => loads.push(request.url()));
    const isImport = (url: string) => url.includes("/import_dialog-");
    await page.route(/import_dialog-/, (route: Page) => route.abort("connectionrefused"));
    await press(page, "Import");
    const problem = page.getByRole("alert").getByText("The page could not load the import.");
    await problem.waitFor();
    assertEquals(await page.getByRole("dialog").count(), 0);
    await page.unroute(/import_dialog-/);
    await press(page, "Import");
    await button(page.getByRole("dialog"), "Choose a file").waitFor();
    await problem.waitFor({ state: "detached" });
    assertEquals(loads.filter(isImport).length, 2);
    await press(page, "Cancel");
    await press(page, "Import");
    await button(page.getByRole("dialog"), "Choose a file").waitFor();
    assertEquals(loads.filter(isImport).length, 2);
  },
);

testInBrowser(
  "an import reads a workbook of Excel in a worker, and people choose another sheet",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    const page = await open(`/window#key=${service.token}`, { width: 390 });
    const dialog = page.getByRole("dialog");
    const scripts: string[] = [];
    page.on("request", (request: Page) => scripts.push(new URL(request.url()).pathname));
    const isOfWorkbook = (path: string) => path.endsWith("/workbook_worker.js");
    const heading = rowOf(1, ["Name", "Category", "Status"]);
    const large = Array.from(
      { length: 20_000 },
      (_, index) => rowOf(index + 2, [`Pet ${index}`, 7]),
    );
    const bytes = workbookOf([
      { name: "Info", rows: rowOf(1, ["Our animals"]) },
      { name: "Dogs", rows: heading + rowOf(2, ["Rex", "dogs", "sold"]) + rowOf(4, ["Mia", 7]) },
      { name: "Large", rows: heading + large.join("") },
    ]);
    await choose(page, "name,category\nTom,7\n");
    await dialog.getByText("1 animal to add").waitFor();
    assertEquals(scripts.filter(isOfWorkbook), []);
    await choose(page, bytes, "animals.xlsx");
    await dialog.getByText("2 animals to add", { exact: true }).waitFor();
    assertEquals(scripts.filter(isOfWorkbook).length, 1);
    await dialog.getByRole("row", { name: "2 Rex Dogs Sold" }).waitFor();
    await dialog.getByRole("row", { name: "4 Mia Dogs" }).waitFor();
    // It is asked, because the workbook has several sheets.
    const sheets = dialog.getByRole("combobox", { name: "Sheet" });
    await expectSoon(() => sheets.getByRole("option").allInnerTexts(), ["Info", "Dogs", "Large"]);
    assertEquals(await dialog.getByRole("combobox", { name: "Encoding" }).count(), 0);
    await expectAccessibleEverywhere(page, "workbook");
    await pickFrom(dialog, "Sheet", "Info");
    await dialog.getByText("Choose the column of Name and Category").waitFor();
    await pickFrom(dialog, "Sheet", "Large");
    await button(dialog, "Import 20,000 animals").waitFor();
    await expectFocus(sheets);
    await pickFrom(dialog, "Sheet", "Dogs");
    await press(dialog, "Import 2 animals");
    await dialog.getByText("2 animals were added.").waitFor();
    assertEquals(await petsOf(service), [["Rex", "sold"], ["Mia", undefined]]);
  },
);

testInBrowser(
  "a workbook that unpacks to gigabytes, or is damaged, holds up nothing",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const alert = dialog.getByRole("alert");
    const files = filesOfWorkbook([{ name: "Pets", rows: rowOf(1, ["Name"]) }]);
    const sheet = files.at(-1)!;
    const spaces = " ".repeat(50_000_000);
    const content = sheet.content.toString().replace("<sheetData>", `<sheetData>${spaces}`);
    const bomb = (saidSize?: number) =>
      zipOf([...files.slice(0, -1), { ...sheet, content, saidSize }]);
    await choose(page, bomb(3_000_000_000), "animals.xlsx");
    await alert.getByText("The workbook is too large when it is unpacked").waitFor();
    await choose(page, bomb(1_000), "animals.xlsx");
    await alert.getByText("The workbook is damaged").waitFor();
    await choose(page, bomb(), "animals.xlsx");
    await dialog.getByText("Choose the column of Category").waitFor();
    // While it is read, the dialog can be closed, and another file be chosen.
    await page.route(/workbook_worker/, () => {});
    await choose(page, workbookOf([{ name: "Pets", rows: rowOf(1, ["Name"]) }]), "animals.xlsx");
    await dialog.getByText("Reading the file …").waitFor();
    await choose(page, "name,category\nTom,7\n");
    await dialog.getByText("1 animal to add").waitFor();
    await page.unroute(/workbook_worker/);
    await page.route(/workbook_worker/, (route: Page) => route.abort("connectionrefused"));
    await choose(page, workbookOf([{ name: "Pets", rows: rowOf(1, ["Name"]) }]), "animals.xlsx");
    await alert.getByText("The page could not read the workbook. Try again").waitFor();
    await press(dialog, "Cancel");
    await dialog.waitFor({ state: "detached" });
  },
);

testInBrowser("an import says why it cannot read a file", async ({ service, open }) => {
  const page = await open(`/window#key=${service.token}`);
  const alert = page.getByRole("dialog").getByRole("alert");
  await choose(page, "");
  await alert.getByText("The file is empty").waitFor();
  await choose(page, `PK\x03\x04${" and more".repeat(9)}`);
  await alert.getByText("The workbook is damaged").waitFor();
  const large = await Deno.makeTempFile();
  await Deno.truncate(large, 20_000_001);
  await page.getByRole("dialog").getByLabel("File").setInputFiles(large);
  await alert.getByText("The file has more than 20 megabytes").waitFor();
  await Deno.remove(large);
});

testInBrowser(
  "an export has all pages of the list that is shown, and an import reads it",
  async ({ service, open }) => {
    const names = ["=1+1", 'a "b", c', "Zoë\n2", "'@x", "-"];
    for (const name of names) await service.add({ name, categoryId: 7, status: "sold" });
    for (let count = 0; count < 105; count++) {
      await service.add({ name: `Pet ${count}`, categoryId: count < 5 ? 8 : 7, status: "sold" });
    }
    const page = await open(`/window?status=sold&categoryId=7#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await row(page, "Pet 104").waitFor();
    const text = await exportOf(page);
    assertMatch(text, /^\ufeffName,Category,Status,Note,(.*,)?Id\r\n/);
    assertMatch(text, /\n'=1\+1,7,sold,,+1\r\n/);
    await page.getByText("105 animals were exported").waitFor();
    await choose(page, text);
    await dialog.getByText("Nothing to import, 105 animals up to date already").waitFor();
    for (let id = 1; id <= names.length + 105; id++) await service.remove(id);
    await dialog.getByRole("radio", { name: /^Add all/ }).check();
    await press(dialog, "Import 105 animals");
    await page.getByText("105 animals were added.").waitFor();
    const imported = (await petsOf(service)).map(([name]) => name);
    assertEquals(imported.length, 105);
    for (const name of names) assert(imported.includes(name), name);
  },
);

testInBrowser(
  "an exported note is imported as it was, with its lines",
  async ({ service, open }) => {
    const note = 'Likes "cheese", and\n=fish;@x\n\nno dogs';
    await service.add({ name: "Rex", categoryId: 7, note });
    await service.add({ name: "Max", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const file = await exportOf(page);
    assert(file.includes("\n'=fish;'@x\n"), file);
    await choose(page, file);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Nothing to import, 2 animals up to date already").waitFor();
    for (const id of [1, 2]) await service.remove(id);
    await dialog.getByRole("radio", { name: /^Add all/ }).check();
    await press(dialog, "Import 2 animals");
    await press(dialog, "Done");
    await row(page, "Rex").waitFor();
    const added = await (await service.send("/v1/pets?q=rex")).json();
    assertEquals(added.map((pet: { note: string }) => pet.note), [note]);
  },
);

/** Opens the dialog and chooses a file with these contents. */
async function choose(
  page: Page,
  content: string | Uint8Array,
  name = "animals.csv",
): Promise<void> {
  const dialog = page.getByRole("dialog");
  if (!await dialog.isVisible()) await openImport(page);
  await dialog.getByLabel("File").setInputFiles({ ...await fileOf(content), name });
}

/** On a narrow page, the button is in a menu. */
async function openImport(page: Page): Promise<void> {
  await button(page, "Import").or(button(page, "Filters and more")).first().waitFor();
  if (!await button(page, "Import").first().isVisible()) await press(page, "Filters and more");
  await button(page, "Import").first().click();
}

async function fileOf(content: string | Uint8Array) {
  const { Buffer } = await import("node:buffer");
  const buffer = typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
  return { name: "animals.csv", mimeType: "text/csv", buffer };
}

/** Asserts that axe finds no fault on a wide and a narrow page. */
async function expectAccessibleEverywhere(page: Page, state: string): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    await expectAccessible(page, `${state}, ${width}`);
  }
}

/** Bytes of a text whose characters are bytes. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (it) => it.charCodeAt(0));
}

/** The chosen column of each field and of the identifier. */
async function chosenColumns(dialog: Page): Promise<string[]> {
  const columns = dialog.getByRole("group", { name: "Columns" }).getByRole("combobox");
  return await columns.evaluateAll((all: Page[]) => all.map((it) => it.selectedOptions[0].text));
}

/** Presses a button that saves a file, and resolves to its text. */
async function savedBy(page: Page, name: string): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent("download");
  await press(page, name);
  const download = await downloading;
  return {
    name: download.suggestedFilename(),
    text: await Deno.readTextFile(await download.path()),
  };
}

async function exportOf(page: Page): Promise<string> {
  const { name, text } = await savedBy(page, "Export");
  assertEquals(name, "animals.csv");
  return text;
}

/** The lines of a file that a button saves. */
async function downloaded(page: Page, name: string): Promise<string[]> {
  const { text } = await savedBy(page, name);
  return text.replace("\ufeff", "").trimEnd().split("\r\n");
}

/** The names and statuses of all animals, by their ids. */
async function petsOf({ send }: TestService): Promise<[string, string | undefined][]> {
  const pets: { id: number; name: string; status?: string }[] = [];
  let path: string | undefined = "/v1/pets?limit=100";
  while (path !== undefined) {
    const response = await send(path);
    assert(response.ok);
    pets.push(...await response.json());
    path = /(\/v1\/[^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return pets.sort((a, b) => a.id - b.id).map(({ name, status }) => [name, status]);
}
