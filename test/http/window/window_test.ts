import { assert, assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { issueKey, revokeKey } from "../../../src/keys/write_key.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { type BrowserParts, type Page, testInBrowser } from "../../support/chromium.ts";
import { fillService } from "../../support/fill_store.ts";
import { importTestPackage } from "../../support/import_test_package.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { until } from "../../support/until.ts";

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const MAX_INT64 = "9223372036854775807";

testInBrowser(
  "the window asks for a key until one is right, and keeps it in its tab only",
  async (parts) => {
    const { service, address, open } = parts;
    const page = await open("/window");
    await enterKey(page, "pets_wrong");
    const refusal = await service.send("/v1/pets", {
      headers: { authorization: "Bearer pets_wrong" },
    });
    await page.getByText((await refusal.json()).message).waitFor();
    await enterKey(page, service.token);
    const linked = await open(`/window#key=${service.token}`);
    assertEquals(linked.url(), `${address}/window`);
    for (const it of [page, linked]) {
      await seeTabs(it, "All 0");
      const places = "localStorage, document.cookie, navigation.entries().map((it) => it.url)";
      const find = `(it) => JSON.stringify(it).includes("${service.token}")`;
      const found = await it.evaluate(`[sessionStorage, ${places}].map(${find})`);
      assertEquals(found, [true, false, false, false]);
      await it.reload();
      await press(it, "Close");
      await keyField(it).waitFor();
      assertEquals(await it.evaluate("sessionStorage.length"), 0);
    }
    await enterKey(page, (await issueKey(service, { label: "reader", isReadOnly: true })).token);
    await service.add({ name: "Rex", categoryId: 7, status: "sold" });
    await seeTabs(page, "Sold 1");
    assertEquals(await page.getByRole("button", { name: /Add|Edit|Remove/ }).count(), 0);
    assertEquals(await page.getByLabel("Status").count(), 0);
    await enterKey(linked, service.token);
    await row(linked, "Rex").getByLabel("Status").waitFor();
    await revokeKey(service, service.keyId);
    await keyField(linked).waitFor();
    await linked.getByText((await (await service.send("/v1/pets")).json()).message).waitFor();
  },
);

testInBrowser(
  "the window counts, filters and scrolls 10,000 animals, with few in the page",
  async (parts) => {
    await fillService(parts.service, 10_000);
    const page = await openWindow(parts);
    await seeTabs(page, "All 10,000", "Available 2,500", "Pending 2,500");
    await row(page, "Animal number 10000").waitFor();
    await (await seeTabs(page, "Sold 2,500")).click();
    await row(page, "Animal number 9998").waitFor();
    assertEquals(await row(page, "Animal number 9999").count(), 0);
    await (await seeTabs(page, "All 10,000")).click();
    for (const [category, pixels, last] of [["98", 200, 98], ["", 1e6, 1]] as const) {
      await page.getByLabel("Filter by category").fill(category);
      await page.keyboard.press("Enter");
      const start = performance.now();
      await scrollTo(page, row(page, `Animal number ${last}`), pixels);
      assertLess(performance.now() - start, 20_000);
      assertLess(await page.locator(ROWS).count(), 100);
    }
  },
);

testInBrowser(
  "the window adds once for two clicks and a lost answer, shows, sells, changes and removes",
  async (parts) => {
    const { service, network } = parts;
    const keys: (string | null)[] = [];
    network.handler = async (request, connection) => {
      const response = await service.handler(request, connection);
      if (request.method !== "POST") return response;
      if (keys.push(request.headers.get("idempotency-key")) > 1) return response;
      const error = { code: "outcome_unknown", message: "Unknown", status: 503 };
      return Response.json(error, { status: 503, headers: { "retry-after": "1" } });
    };
    const page = await openWindow(parts);
    await fillNew(page, "Rex");
    await button(page, "Save").dblclick();
    await until(() => keys.length > 1);
    assertMatch(keys.join(), /^(.+),\1$/);
    await seeTabs(page, "All 1");
    await press(page, "Rex");
    const etag = (await service.send("/v1/pets/1")).headers.get("etag");
    await page.getByRole("dialog").filter({ hasText: etag }).waitFor();
    await page.keyboard.press("Escape");
    await row(page, "Rex").getByLabel("Status").selectOption("sold");
    await seeTabs(page, "Sold 1");
    await page.getByText(/\d:\d\d.*Rex \(1\) was sold/).first().waitFor();
    for (const [name, key] of [["Max", "Escape"], ["Bella", "Enter"]]) {
      await press(row(page, "Rex"), "Edit");
      await page.locator(ROWS).getByLabel("Category").fill(MAX_INT64);
      await page.locator(ROWS).getByLabel("Name").fill(name);
      await page.keyboard.press(key);
    }
    await row(page, "Bella").filter({ hasText: MAX_INT64 }).waitFor();
    for (const answer of ["Keep", "Remove"]) {
      await press(row(page, "Bella"), "Remove");
      await press(page.getByRole("dialog", { name: "Remove Bella?" }), answer);
    }
    await seeTabs(page, "All 0");
    assertEquals(await page.getByRole("img", { name: /\w/ }).count(), 1);
    const events = await (await service.send("/v1/events")).text();
    assertEquals(events.match(/(?<="type":"|"data":)(Pet\w+|{.*?(?=,"previous|}))/g), [
      ...["PetCreated", '{"id":1,"name":"Rex","categoryId":7'],
      ...["PetUpdated", '{"id":1,"name":"Rex","categoryId":7,"status":"sold"'],
      ...["PetUpdated", `{"id":1,"name":"Bella","categoryId":${MAX_INT64},"status":"sold"`],
      ...["PetRemoved", `{"id":1,"name":"Bella","categoryId":${MAX_INT64},"status":"sold"`],
    ]);
  },
);

testInBrowser(
  "the window shows what others do within a second, and keeps place, focus and edits",
  async (parts) => {
    await fillService(parts.service, 80);
    const [page, other] = [await openWindow(parts), await openWindow(parts)];
    await row(other, "Animal number 80").waitFor();
    await fillNew(page, "Rex");
    const start = performance.now();
    await press(page, "Save");
    await row(other, "Rex").waitFor();
    assertLess(performance.now() - start, 1_000);
    await scrollTo(other, row(other, "Animal number 40"), 200);
    await press(row(other, "Animal number 40"), "Edit");
    const field = other.locator(ROWS).getByLabel("Name");
    await field.fill("Half");
    const { y } = await field.boundingBox();
    await fillNew(page, "Bella");
    await press(page, "Save");
    await seeTabs(other, "All 82");
    assertEquals([await field.inputValue(), (await field.boundingBox()).y], ["Half", y]);
    await other.keyboard.press("Enter");
    await scrollTo(page, row(page, "Half"), 200);
    assertEquals([page.streams.size, other.streams.size], [1, 1]);
  },
);

testInBrowser("the window asks before it overwrites what somebody else did", async (parts) => {
  const { service, network } = parts;
  await service.add({ name: "Rex", categoryId: 7, status: "available" });
  const page = await openWindow(parts);
  /** The method of the request about the animal just before which another client changes its name. */
  let rival: RegExp | undefined;
  network.handler = async (request, connection) => {
    if (request.url.endsWith("/v1/pets/1") && rival?.test(request.method)) {
      rival = undefined;
      await service.change(1, { name: "Mia" });
    }
    return await service.handler(request, connection);
  };
  const answer = async (choice: string, expected: object) => {
    const question = page.getByRole("dialog").filter({ hasText: /Somebody else changed/ });
    await press(question.filter({ hasText: /Mia|Zoe/ }), choice);
    const pet = { id: 1, name: "Mia", categoryId: 7, status: "available", ...expected };
    await until(async () => assertEquals(await (await service.send("/v1/pets/1")).json(), pet));
    await service.change(1, { name: "Rex", status: "available" });
    await row(page, "Rex").waitFor();
  };
  for (const method of [/GET|PATCH/, /PATCH/]) {
    for (const [choice, status] of [["Keep theirs", "available"], ["Change anyway", "sold"]]) {
      rival = method;
      await row(page, "Rex").getByLabel("Status").selectOption("sold");
      await answer(choice, { status });
    }
  }
  // An edit is of the animal as it was when the edit began.
  await press(row(page, "Rex"), "Edit");
  await page.locator(ROWS).getByLabel("Category").fill("8");
  await service.change(1, { name: "Zoe" });
  await page.getByText(/renamed Zoe/).first().waitFor();
  await page.keyboard.press("Enter");
  await answer("Keep theirs", { name: "Zoe" });
  rival = /DELETE/;
  await press(row(page, "Rex"), "Remove");
  await press(page.getByRole("dialog", { name: "Remove Rex?" }), "Remove");
  await answer("Keep theirs", {});
});

testInBrowser(
  "the window recovers from a kill, and from a store that was replaced",
  async ({ open }) => {
    await using temp = await TempStore.make();
    const { id, token } = await temp.use((tool) => issueKey(tool, { label: "test" }));
    const add = (name: string) =>
      temp.use(({ appender, runtime }) =>
        appender.append(addPetCommand(runtime, id, { name, categoryId: 7n }))
      );
    await add("Rex");
    let service = await ServiceProcess.start(temp.kvPath);
    const { address } = service;
    const page = await open(`/window#key=${token}`, { address });
    await row(page, "Rex").waitFor();
    const older = await Deno.readFile(temp.kvPath);
    for (const name of ["Mia", "Zoe"]) {
      await until(() => page.streams.size === 1);
      await service.stop("SIGKILL");
      await page.getByText(/Connection lost/).first().waitFor();
      if (name === "Zoe") {
        for (const it of Deno.readDirSync(temp.folder)) {
          await Deno.remove(
            `${temp.folder}/${it.name}`,
          );
        }
        await Deno.writeFile(temp.kvPath, older);
      }
      await add(name);
      service = await ServiceProcess.start(temp.kvPath, { PORT: new URL(address).port });
      await page.getByText("Connected").first().waitFor();
      await row(page, name).waitFor();
      await seeTabs(page, "All 2");
    }
    assertEquals(await row(page, "Mia").count(), 0);
    await service.stop();
  },
);

testInBrowser(
  "the window is light and strict, fits each screen, shows markup as text, and axe finds nothing",
  async (parts) => {
    const { service, address, open } = parts;
    const response = await fetch(`${address}/window`);
    assertEquals(response.headers.get("content-security-policy"), POLICY);
    assert(!/<script(?![^>]*\ssrc=)|<style|\s(on\w+|style)=/i.test(await response.text()));
    const { default: { source } } = await importTestPackage("axe-core");
    const name = `<img src=x onerror=alert(1)>${"W".repeat(200)}`;
    for (
      const [width, colorScheme] of [[390, "dark"], [390, "light"], [1600, "dark"], [1600, "light"]]
    ) {
      const page = await open("/window", { width, colorScheme });
      const check = async (state: string) => {
        assertEquals(await page.evaluate("document.documentElement.scrollWidth"), width, state);
        const { violations } = await page.evaluate(`${source}; axe.run()`);
        const found = violations.map((
          { id, nodes }: Page,
        ) => [id, ...nodes.map((it: Page) => it.html)]);
        assertEquals(found, [], `${state}, ${width} px, ${colorScheme}`);
      };
      await check("key");
      await enterKey(page, service.token);
      await seeTabs(page, /^All \d/);
      await check("list");
      if (await page.locator(ROWS).count() === 0) await service.add({ name, categoryId: 7 });
      for (const state of ["Add an animal", name, "Remove"]) {
        await press(page, state);
        await check(state);
        await page.keyboard.press("Escape");
      }
      assertEquals(await page.locator("img").count(), 0);
      const bytes = await page.evaluate(`performance.getEntries()
      .filter(({ name }) => !name.includes("/v1/"))
      .reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)`);
      assertGreater(bytes, 5_000);
      assertLess(bytes, 60_000);
    }
  },
);

testInBrowser("the window needs no mouse", async ({ service, open }) => {
  const page = await open("/window");
  const type = async (target: Page, ...keys: string[]) => {
    await target.waitFor();
    for (let presses = 0; !await target.evaluate((it: Page) => it.matches(":focus")); presses++) {
      assertLess(presses, 40);
      await page.keyboard.press("Tab");
    }
    const style = (it: Page) => it.ownerDocument.defaultView.getComputedStyle(it).outlineStyle;
    assert(await target.evaluate(style) !== "none", "the focus is visible");
    for (const key of keys) {
      await (key.length > 12 ? page.keyboard.type(key) : page.keyboard.press(key));
    }
  };
  const dialog = page.getByRole("dialog");
  await type(keyField(page), service.token, "Enter");
  await type(button(page, "Add an animal"), "Enter");
  await type(dialog.getByLabel("Name"), "R", "e", "x");
  await type(dialog.getByLabel("Category"), "7", "Enter");
  await type(await seeTabs(page, "All 1"), "ArrowRight");
  await page.getByRole("tab", { name: "Available 0", selected: true }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await type(button(row(page, "Rex"), "Remove"), "Enter");
  await type(button(dialog, "Remove"), "Enter");
  await seeTabs(page, "All 0");
});

/** The rows of the animals. */
const ROWS = "[aria-posinset]";

function row(page: Page, name: string) {
  return page.locator(ROWS).filter({ has: button(page, name) });
}

function button(parent: Page, name: string) {
  return parent.getByRole("button", { name, exact: true });
}

function press(parent: Page, name: string): Promise<void> {
  return button(parent, name).click();
}

function keyField(page: Page) {
  return page.getByLabel("API key");
}

async function openWindow({ open, service }: BrowserParts): Promise<Page> {
  return await open(`/window#key=${service.token}`);
}

async function enterKey(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await press(page, "Open");
}

/** Fills in a new animal of category 7. */
async function fillNew(page: Page, name: string): Promise<void> {
  await press(page, "Add an animal");
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("dialog").getByLabel("Category").fill("7");
}

/** Resolves to the first of these tabs when all are there. */
async function seeTabs(page: Page, ...names: (string | RegExp)[]): Promise<Page> {
  const tabs = names.map((name) => page.getByRole("tab", { name, exact: true }));
  for (const it of tabs) await it.waitFor();
  return tabs[0];
}

/** Turns the wheel over the list until it shows the target. */
async function scrollTo(page: Page, target: Page, pixels: number): Promise<void> {
  await page.locator(ROWS).first().hover();
  while (!await target.isVisible()) {
    await page.mouse.wheel(0, pixels);
    await page.waitForTimeout(20);
  }
}
