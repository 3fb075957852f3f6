/** How the window fits screens and sizes of text. */

import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  enterKey,
  linkOf,
  pickStatus,
  press,
  row,
  tab,
  toast,
} from "../support/window_controls.ts";

const box = (target: Page) => target.boundingBox();

/**
 * Controls that overlap on the screen, or are outside of it. A floating bar may cover others. Links in a sentence do not
 * count.
 */
const faultsOfPlaces = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const FLOATING = ".floating, aside";
    const FIXED = ".tabs, .tools, .head";
    const nameOf = (it) => it.getAttribute("aria-label") ?? it.innerText;
    const seen = [...document.querySelectorAll("a:not(.of-animal), button, input:not([type=search])")]
      .filter((it) => it.checkVisibility({ opacityProperty: true }))
      .map((it) => {
        const clipped = { it, layer: it.closest(FLOATING), isFixed: it.closest(FIXED) !== null };
        let { left, right, top, bottom } = it.getBoundingClientRect();
        // A line that scrolls shows a part of its controls.
        const line = it.closest(".line, [role=tablist]")?.getBoundingClientRect();
        if (line !== undefined) {
          left = Math.max(left, line.left);
          right = Math.min(right, line.right);
        }
        return { ...clipped, left, right, top, bottom };
      })
      .filter(({ left, right, top, bottom }) => right > left && bottom > 0 && top < innerHeight);
    const outside = seen.filter(({ left, right }) => left < 0 || right > innerWidth);
    const faults = outside.map(({ it }) => nameOf(it) + " is outside");
    const isOver = (a, b) =>
      a.layer === b.layer && (a.isFixed === b.isFixed || scrollY === 0) &&
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    for (const [place, one] of seen.entries()) {
      for (const other of seen.slice(place + 1)) {
        if (isOver(one, other)) faults.push(nameOf(one.it) + " is over " + nameOf(other.it));
      }
    }
    return faults;
  })()`);

/** Whether a part of the text is not shown. It runs in the page. */
const isCut = (it: Page) => it.scrollWidth > it.clientWidth || it.scrollHeight > it.clientHeight;

const LONG_NAME = "Maximiliana Theodora von Hohenlohe-Schillingsfuerst the Third";

testInBrowser(
  "nothing is wider than the screen, and no two controls overlap, with a selection and a message",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Rabbits and hares");
    for (const name of ["Mia", "Rex", "Hamster 198", LONG_NAME]) {
      await service.add({ name, categoryId: 7, status: "available" });
    }
    // Layouts change just below 760 and 1160 pixels.
    const widths = [[320], [760], [1160], [390, 32], [1280, 32]];
    for (const [width, fontSize = 16] of widths) {
      const page = await open(`/window#key=${service.token}`, { width });
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: fontSize } });
      await page.reload();
      const check = async (state: string) => {
        const where = `${state} at ${width} with ${fontSize} pixels`;
        await expectSoon(() => page.evaluate("document.documentElement.scrollWidth"), width, where);
        await expectSoon(() => faultsOfPlaces(page), [], where);
      };
      await row(page, LONG_NAME).waitFor();
      await tab(page, "Sold 0").waitFor();
      await check("list");
      // An animal without its name, its category or its id is none.
      for (const part of [linkOf(page, "Rex"), row(page, "Rex").getByText("Rabbits")]) {
        assertGreater((await box(part)).width, 60);
      }
      // Several animals may begin with the same word.
      await expectSoon(() => linkOf(page, "Hamster 198").evaluate(isCut), false);
      await page.getByRole("checkbox", { name: "Select Rex" }).click();
      const selection = page.getByRole("group", { name: "Selected animals" });
      await selection.waitFor();
      await check("selection");
      for (const name of ["Move to", "Remove", "Export"]) {
        const { x, width: ofButton } = await box(button(selection, name));
        assertLess(x + ofButton, width, `${name} at ${width} with ${fontSize} pixels`);
      }
      // The bar leaves room for the animals.
      assertLess((await box(selection)).height, 844 * .35);
      await press(selection, "Mark as");
      await press(page.getByRole("group", { name: "Mark as" }), "Sold");
      // A message that is pointed at stays.
      await toast(page, /1 animal .* sold/).hover();
      await check("message");
      // The message is above the bar, and as wide.
      await expectSoon(async () => {
        const ofBar = await box(selection);
        const above = await box(page.locator(".toast"));
        return above.x === ofBar.x && above.width === ofBar.width &&
          above.y + above.height < ofBar.y;
      }, true);
      await press(page, "Undo");
      await toast(page, "Undone: Rex is available again").waitFor();
      await selection.waitFor();
      await press(selection, "Clear");
      await selection.waitFor({ state: "hidden" });
      await pickStatus(page, LONG_NAME, "Sold");
      const message = toast(page, "was sold").filter({ has: button(page, "Undo") });
      await message.hover();
      await check("message with a long name");
      const ofUndo = await box(button(message, "Undo"));
      const ofMessage = await box(message);
      assertLess(ofUndo.x + ofUndo.width, ofMessage.x + ofMessage.width);
      assertLess(ofMessage.height, 7.5 * fontSize);
      await press(message, "Undo");
      await toast(page, "is available again").waitFor();
      await tab(page, "Sold 0").waitFor();
      await page.getByRole("link", { name: "Categories" }).click();
      await page.getByRole("cell", { name: "4", exact: true }).waitFor();
      await check("categories");
      await page.context().close();
    }
  },
);

/** What has no room in the bar of a selection, and in how many lines it stands. It runs in the page. */
const ROOM_OF_BAR = `(() => {
  const bar = document.querySelector(".selection");
  const { paddingLeft, paddingRight } = getComputedStyle(bar);
  const place = bar.getBoundingClientRect();
  const left = place.left + parseFloat(paddingLeft);
  const right = place.right - parseFloat(paddingRight);
  const parts = [...bar.querySelectorAll("p, button")].filter((it) => it.checkVisibility());
  const boxes = parts.map((it) => ({ name: it.innerText || it.title, box: it.getBoundingClientRect() }));
  const isOut = ({ box }) => box.left < left - 1 || box.right > right + 1;
  const middles = boxes.map(({ box }) => Math.round((box.top + box.bottom) / 2));
  return { outside: boxes.filter(isOut).map(({ name }) => name), lines: new Set(middles).size };
})()`;

testInBrowser(
  "the bar of a selection has room for its buttons, also with large numbers",
  async ({ service, network, open }) => {
    for (let id = 1; id <= 101; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      if (!request.url.includes("/pets/summary")) return response;
      await response.body?.cancel();
      const counts = { available: 0, pending: 0, sold: 0, none: 12_345 };
      return Response.json({ counts, similarNames: [] }, { headers: response.headers });
    };
    const page = await open(`/window#key=${service.token}`);
    const bar = page.getByRole("group", { name: "Selected animals" });
    await tab(page, "All 12,345").waitFor();
    await page.getByRole("checkbox", { name: /^Select all/ }).click();
    await button(bar, "Select all 12,345").waitFor();
    for (const [width, lines] of [[320, 2], [390, 2], [768, 1], [1_280, 1]]) {
      await page.setViewportSize({ width, height: 844 });
      await expectSoon(
        () => page.evaluate(ROOM_OF_BAR),
        { outside: [], lines },
        `A button has no room in the bar at ${width} pixels: find a shorter word, or give it room in list.css`,
      );
    }
  },
);

testInBrowser("a short page does not scroll", async ({ service, open }) => {
  await service.nameCategory(7n, "Dogs");
  for (const width of [320, 390, 1280]) {
    const page = await open("/window", { width });
    const check = (what: string) =>
      expectSoon(() => page.evaluate("document.documentElement.scrollHeight"), 844, what);
    await page.getByLabel("Access key").waitFor();
    await check(`sign-in at ${width}`);
    await enterKey(page, service.token);
    await page.getByText("No animals yet").waitFor();
    await check(`empty store at ${width}`);
    const { id } = await (await service.add({ name: "Rex", categoryId: 7 })).json();
    await row(page, "Rex").waitFor();
    await check(`list at ${width}`);
    await page.getByRole("link", { name: "Categories" }).click();
    await page.getByRole("link", { name: "Dogs" }).waitFor();
    await check(`categories at ${width}`);
    await page.getByRole("link", { name: "All animals" }).click();
    await linkOf(page, "Rex").click();
    await page.locator(".history li").first().waitFor();
    await check(`animal at ${width}`);
    await page.context().close();
    await service.remove(id);
  }
});

/** How many lines the text has, and whether a line ends within a word. It runs in the page. */
const linesOf = (it: Page) => {
  const { document } = globalThis as Page;
  const text = document.createTreeWalker(it, 4);
  const tops: number[] = [];
  let isBroken = false;
  while (text.nextNode()) {
    for (const { index, 0: word } of text.currentNode.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(text.currentNode, index);
      range.setEnd(text.currentNode, index + word.length);
      const boxes = [...range.getClientRects()];
      isBroken ||= boxes.length > 1;
      tops.push(Math.round(boxes[0].top));
    }
  }
  return { lines: new Set(tops).size, isBroken };
};

testInBrowser(
  "on a phone, a lost connection has a line of its own below the header",
  async ({ service, open }) => {
    for (let id = 1; id <= 30; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    for (const width of [320, 390]) {
      const page = await open(`/window#key=${service.token}`, { width });
      const header = page.locator("header");
      await header.getByText("Connected").waitFor();
      await page.evaluate("scrollTo(0, 400)");
      const place = await box(row(page, "Pet 20"));
      await page.context().setOffline(true);
      await pickStatus(page, "Pet 20", "Sold");
      await header.getByText(/^Connection lost.* 1 change waits/).waitFor();
      const isKept = async () => Math.abs((await box(row(page, "Pet 20"))).y - place.y) < 1;
      await expectSoon(isKept, true, `${width}`);
      await page.evaluate("scrollTo(0, 0)");
      await pickStatus(page, "Pet 30", "Sold");
      const message = header.getByText(
        "Connection lost. Trying again … 2 changes wait to be saved.",
      );
      await message.waitFor();
      const { lines, isBroken } = await message.evaluate(linesOf);
      assertEquals(isBroken, false, `${width}`);
      assertLess(lines, 3, `${width}`);
      const controls = await box(header.getByRole("link", { name: "Activity" }));
      const { x, y, height } = await box(message);
      assertLess(x, 25, `${width}`);
      assertLess(controls.y + controls.height, y + 1, `${width}`);
      assertLess((await box(header)).height, 100, `${width}`);
      assertLess(y + height, (await box(page.getByRole("tablist"))).y + 1, `${width}`);
      await page.context().setOffline(false);
      await header.getByText("Connected").waitFor();
      await page.context().close();
    }
  },
);

testInBrowser(
  "a phone shows all tabs, with large text the one that is chosen",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const isSeen = async (page: Page, name: string) => {
      const { x, width } = await box(tab(page, name));
      return x >= 0 && x + width <= 320;
    };
    for (const fontSize of [16, 32]) {
      const page = await open(`/window?status=none#key=${service.token}`, { width: 320 });
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: fontSize } });
      await page.reload();
      await row(page, "Rex").waitFor();
      await expectSoon(() => isSeen(page, "No status 1"), true);
      const areAllSeen = fontSize === 16;
      await expectSoon(() => isSeen(page, "All 1"), areAllSeen);
      await tab(page, "No status 1").press("ArrowLeft");
      await expectSoon(() => isSeen(page, "Sold 0"), true);
    }
  },
);

testInBrowser(
  "the header has one line on a small phone, and the bar of a selection has two",
  async ({ service, open }) => {
    for (let id = 1; id <= 120; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`, { width: 320 });
    await tab(page, "All 120").waitFor();
    const bar = page.getByRole("group", { name: "Selected animals" });
    await page.getByRole("checkbox", { name: "Select Pet 120" }).click();
    await button(bar, "Select all 120").waitFor();
    assertLess((await box(page.locator("header"))).height, 60);
    const yOf = async (name: string) => Math.round((await box(button(bar, name))).y);
    assertEquals(await yOf("Select all 120"), await yOf("Clear"));
    for (const name of ["Remove", "Export"]) assertEquals(await yOf(name), await yOf("Mark as"));
    assertEquals(await bar.locator(".line").evaluate(isCut), false);
  },
);

testInBrowser(
  "the links of an animal's page have one line on a small phone, also beside a scroll bar",
  async ({ service, open }) => {
    for (const name of ["Rex", "Mia", "Max"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`, { width: 304 });
    await linkOf(page, "Mia").click();
    const links = page.getByRole("navigation", { name: "Animals" }).getByRole("link");
    await expectSoon(() => links.count(), 3);
    const tops = new Set<number>();
    for (const link of await links.all()) tops.add((await link.boundingBox()).y);
    assertEquals(tops.size, 1);
  },
);

testInBrowser("on a low screen, nothing stays above the list", async ({ service, open }) => {
  for (let id = 1; id <= 30; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const page = await open(`/window#key=${service.token}`);
  await row(page, "Pet 30").waitFor();
  const tabs = page.getByRole("tablist");
  for (const [height, isStaying] of [[844, true], [390, false]] as const) {
    await page.setViewportSize({ width: 844, height });
    await page.evaluate("scrollTo(0, 600)");
    await expectSoon(async () => (await box(tabs)).y >= 0, isStaying);
  }
});

/** Adds four fields to each row and to the header, as entries of `fields.ts` would. It runs in the page. */
const addFields = `(() => {
  const { style } = document.querySelector("#animals");
  style.setProperty("--fields", 7);
  style.setProperty("--short-fields", 6);
  for (const fields of document.querySelectorAll(".fields")) {
    const kind = fields.closest("#rows") ? "gridcell" : "columnheader";
    const texts = ["2024-02-29", "brown and white", "12.5 kg", "900 118 000 123 456"];
    for (const text of texts.slice(0, 7 - fields.children.length)) {
      const cell = document.createElement("span");
      cell.setAttribute("role", kind);
      cell.dataset.label = "Label";
      cell.append(text);
      fields.append(cell);
    }
  }
})()`;

/** The places of the cells that are seen of the first row with this role, from left to right. It runs in the page. */
const placesOf = (role: string) =>
  `(() => {
  const cells = [...document.querySelectorAll("[role=" + ${JSON.stringify(role)} + "]")]
    .filter((it, _, all) => it.closest("[role=row]") === all[0].closest("[role=row]"));
  return cells.filter((it) => {
    const line = it.closest(".fields")?.getBoundingClientRect();
    const { top, width } = it.getBoundingClientRect();
    return width > 0 && (line === undefined || top < line.bottom - 5);
  }).map((it) => {
    const { left, right, top, bottom } = it.getBoundingClientRect();
    return { left: Math.round(left), right: Math.round(right), top, bottom };
  });
})()`;

testInBrowser(
  "a list with eight fields has a column for each that has room, and all of them on a phone",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Rabbits and hares");
    await service.add({ name: LONG_NAME, categoryId: 7, status: "available" });
    // The check box, the name, the id and the actions, and fields.
    const columns = [[760, 4 + 2], [1024, 4 + 4], [1280, 4 + 6], [1600, 4 + 7]];
    for (const [width, count] of [...columns, [320, 3 + 6], [390, 3 + 6]]) {
      const page = await open(`/window#key=${service.token}`, { width });
      await row(page, LONG_NAME).waitFor();
      await page.evaluate(addFields);
      type Place = { left: number; right: number; top: number; bottom: number };
      const places: Place[] = await page.evaluate(placesOf("gridcell"));
      assertEquals(places.length, count, `cells at ${width}`);
      const headers: Place[] = await page.evaluate(placesOf("columnheader"));
      const leftOf = ({ left }: Place) => left;
      if (width > 752) assertEquals(headers.map(leftOf), places.map(leftOf), `${width}`);
      const isOver = (a: Place, b: Place) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
      for (const [index, one] of places.entries()) {
        assertLess(one.right, width + 1);
        const over = places.slice(index + 1).find((it) => isOver(one, it));
        assertEquals(over, undefined, `over ${JSON.stringify(one)} at ${width}`);
      }
      await page.context().close();
    }
  },
);

testInBrowser(
  "a menu of a narrow page lies along the bottom of the screen",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    for (const width of [320, 390, 700]) {
      const page = await open(`/window#key=${service.token}`, { width });
      await page.getByRole("checkbox", { name: "Select Rex" }).click();
      for (const name of ["Filters and more", "Mark as"]) {
        await press(page, name);
        const menu = page.getByRole("group", { name, exact: true });
        await expectSoon(async () => {
          const { x, y, width: wide, height } = await box(menu);
          return [x, wide, y + height];
        }, [0, width, 844]);
        await page.keyboard.press("Escape");
      }
    }
  },
);
