import { systemRuntime } from "eventstore-less/startup";
import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { addPetCommand } from "../support/add_pet_command.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { fillStore } from "../support/fill_store.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { until } from "../support/until.ts";
import {
  button,
  enterKey,
  expectFocus,
  fill,
  hasFocus,
  linkOf,
  pickStatus,
  press,
  row,
  ROWS,
  scrollTo,
  scrollUntil,
  statusText,
  tab,
} from "../support/window_controls.ts";

const MAX_INT64 = "9223372036854775807";

testInBrowser(
  "the window adds, sells, changes and removes",
  async ({ service, network, open }) => {
    const keys: (string | null)[] = [];
    let failures = 0;
    network.fetch = async (request) => {
      const isStream = request.headers.get("accept") === "text/event-stream";
      if (isStream && failures++ === 0) {
        return Response.json({ message: "It fails" }, { status: 500 });
      }
      const response = await service.fetch(request);
      if (request.method !== "POST") return response;
      const count = keys.push(request.headers.get("idempotency-key"));
      return count > 1 ? response : new Response(null, { status: 503 });
    };
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("heading", { name: "No animals yet" }).waitFor();
    await press(page, "Import");
    await press(dialog.filter({ hasText: "CSV" }), "Cancel");
    await press(page, "Add an animal");
    await fill(dialog, "Rex", "7");
    await button(dialog, "Add").dblclick();
    await until(() => assertMatch(keys.join(), /^([^,]+)(,\1)+$/));
    // The list may have the animal by its event, before the form has the response.
    await dialog.waitFor({ state: "hidden" });
    await pickStatus(page, "Rex", "Sold");
    await expectSoon(() => statusText(page, "Rex"), "Sold");
    await tab(page, "Sold 1").waitFor();
    for (const [name, key] of [["Max", "Escape"], ["Bella", "Enter"]]) {
      await press(page, "Edit Rex");
      await fill(dialog, name, MAX_INT64);
      await page.keyboard.press(key);
      if (key === "Escape") await press(dialog, "Discard");
    }
    await row(page, "Bella").filter({ hasText: MAX_INT64 }).waitFor();
    await press(page, "Remove Bella");
    await page.getByText("No animals yet").waitFor();
    assertEquals((await (await service.send("/v1/events")).json()).length, 4);
  },
);

testInBrowser("the window shows what others do, and keeps its place", async ({ service, open }) => {
  for (let id = 1; id <= 80; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
  const [page, other] = [await open("/window"), await open("/window")];
  for (const it of [page, other]) await enterKey(it, service.token);
  await row(other, "Pet 80").waitFor();
  // While the pointer is on the list, new animals come above the screen.
  await other.mouse.move(0, 0);
  let added = 80;
  await until(async () => {
    const start = performance.now();
    await service.add({ name: `Pet ${++added}`, categoryId: 7 });
    await row(other, `Pet ${added}`).waitFor();
    // One may be late because the machine is busy.
    return performance.now() - start < 1_000;
  });
  // They come above the others, which is where the reader looks.
  await expectSoon(() => other.evaluate("scrollY"), 0);
  await scrollTo(other, row(other, "Pet 40"), 200);
  const place = async () => (await row(other, "Pet 40").boundingBox()).y;
  const y = await place();
  await service.add({ name: "Bella", categoryId: 7 });
  await tab(other, `All ${added + 1}`).waitFor();
  await expectSoon(place, y);
  await press(other, "Edit Pet 40");
  await other.getByRole("dialog").getByLabel("Name").fill("Half");
  await other.keyboard.press("Enter");
  await scrollTo(page, row(page, "Half"), 200);
  await expectSoon(() => [page.streams.size, other.streams.size], [1, 1]);
});

testInBrowser("the window asks in a conflict", async ({ service, network, open }) => {
  await service.add({ name: "Rex", categoryId: 7, status: "available" });
  const page = await open(`/window#key=${service.token}`);
  const dialog = page.getByRole("dialog");
  /** Just before the next request with this method, another client changes the animal. */
  let rival: string | undefined;
  network.fetch = async (request) => {
    if (request.method === rival) {
      rival = undefined;
      await service.change(1, { name: "Mia" });
    }
    return await service.fetch(request);
  };
  const answer = async (choice: string, name: string, status: string) => {
    await press(dialog.filter({ hasText: /Somebody else/ }).filter({ hasText: name }), choice);
    const pet = { id: 1, name, categoryId: 7, status };
    await expectSoon(async () => await (await service.send("/v1/pets/1")).json(), pet);
    await service.change(1, { name: "Rex", status: "available" });
    await row(page, "Rex").waitFor();
  };
  await row(page, "Rex").waitFor();
  rival = "PATCH";
  await pickStatus(page, "Rex", "Sold");
  await answer("Change anyway", "Mia", "sold");
  rival = "DELETE";
  await press(page, "Remove Rex");
  await answer("Keep theirs", "Mia", "available");
  // An edit is of the animal as it was when the edit began.
  await press(page, "Edit Rex");
  await fill(dialog, "Max", "8");
  await service.change(1, { name: "Zoe" });
  await service.add({ name: "Bella", categoryId: 7 });
  await row(page, "Bella").waitFor();
  await page.keyboard.press("Enter");
  await dialog.getByText("Somebody else changed this animal. It is now Zoe").waitFor();
  // Nobody overwrites it by a second Enter.
  await expectFocus(button(dialog, "Cancel"));
  await expectSoon(() => dialog.getByLabel("Name").inputValue(), "Max");
  await press(dialog, "Change anyway");
  await row(page, "Max").waitFor();
});

testInBrowser(
  "a form says at once that somebody else has changed its animal, and shows what is new",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const notice = dialog.getByText("Somebody else changed this animal");
    const name = dialog.getByLabel("Name");
    await press(page, "Edit Rex");
    await name.fill("My Rex");
    await service.change(1, { name: "Zoe", status: "sold" });
    await notice.filter({ hasText: "It is now Zoe, category 7, sold" }).waitFor();
    // Who types is not disturbed, and what nobody has typed is as it is now.
    await expectFocus(name);
    await expectSoon(() => name.inputValue(), "My Rex");
    await expectSoon(() => dialog.getByLabel("Status").inputValue(), "sold");
    // They take it back.
    await service.change(1, { name: "Rex", status: "available" });
    await notice.waitFor({ state: "hidden" });
    await service.change(1, { status: "pending" });
    await notice.filter({ hasText: "It is now Rex, category 7, pending" }).waitFor();
    // Nobody overwrites it by an Enter that comes just after it.
    await page.keyboard.press("Enter");
    await expectFocus(button(dialog, "Cancel"));
    await press(dialog, "Change anyway");
    await row(page, "My Rex").waitFor();
    const pet = async () => await (await service.send("/v1/pets/1")).json();
    await expectSoon(pet, { id: 1, name: "My Rex", categoryId: 7, status: "pending" });
    // The reader's own change is no news.
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.method === "PATCH") await gate.promise;
      return await service.fetch(request);
    };
    await pickStatus(page, "My Rex", "Sold");
    await press(page, "Edit My Rex");
    gate.resolve();
    await expectSoon(() => dialog.getByLabel("Status").inputValue(), "sold");
    assertEquals(await notice.count(), 0);
    await name.fill("Max");
    await press(dialog, "Save");
    await row(page, "Max").waitFor();
  },
);

testInBrowser("the window shows 10,000 animals, and recovers from a kill", async ({ open }) => {
  await using temp = await TempStore.make();
  await using processes = new AsyncDisposableStack();
  const token = await fillStore(temp.kvPath, 10_000);
  const older = `${temp.folder}/older.sqlite3`;
  await Deno.copyFile(temp.kvPath, older);
  let service = processes.use(await ServiceProcess.start(temp.kvPath));
  const { port: PORT } = new URL(service.address);
  const page = await open(`/window#key=${token}`, { address: service.address });
  await row(page, "Animal number 10000").waitFor();
  for (const [path, name] of [[temp.kvPath, "Mia"], [older, "Zoe"]]) {
    await until(() => page.streams.size === 1);
    await service.stop("SIGKILL");
    await page.getByRole("banner").getByText(/^Connection lost/).waitFor();
    const command = addPetCommand(systemRuntime, systemRuntime.newId(), { name, categoryId: 7n });
    await useRealStore(path, ({ appender }) => appender.append(command));
    service = processes.use(await ServiceProcess.start(path, { PORT }));
    await page.getByText("Connected").waitFor();
    await row(page, name).waitFor();
    await tab(page, "All 10,001").waitFor();
  }
  await row(page, "Mia").waitFor({ state: "hidden" });
  await tab(page, "Sold 2,500").click();
  await row(page, "Animal number 9998").waitFor();
  // The old rows stay until the new ones come.
  await row(page, "Animal number 9999").waitFor({ state: "hidden" });
  await tab(page, "All 10,001").click();
  const category = page.getByLabel("Filter by category");
  await category.fill("98");
  await page.keyboard.press("Escape");
  await row(page, "Animal number 9999").waitFor({ state: "hidden" });
  await scrollTo(page, row(page, "Animal number 98"), 200);
  await category.fill("");
  await page.keyboard.press("Escape");
  await row(page, "Animal number 9999").waitFor();
  // A page that loads meanwhile moves the end of the list past any one row.
  await scrollUntil(page, 1e6, async () => {
    const names = await page.locator(ROWS).getByText(/^Animal number/).allTextContents();
    return names.some((it: string) => Number(it.split(" ").at(-1)) <= 9_001);
  });
  assertLess(await page.locator(ROWS).count(), 100);
});

testInBrowser("the window needs no mouse", async ({ service, open }) => {
  const page = await open("/window");
  const rings = new Set<string>();
  const reach = async (target: Page, key: string) => {
    await target.waitFor();
    for (let presses = 0; !await hasFocus(target); presses++) {
      assertLess(presses, 40);
      await page.keyboard.press("Tab");
    }
    rings.add(
      await target.evaluate((it: Page) =>
        it.ownerDocument.defaultView.getComputedStyle(it).outline
      ),
    );
    await page.keyboard.press(key);
  };
  const dialog = page.getByRole("dialog");
  await reach(page.getByLabel("Access key"), "End");
  await page.keyboard.type(service.token);
  await reach(button(page, "Sign in"), "Enter");
  await reach(button(page, "Add an animal"), "Enter");
  await reach(dialog.getByLabel("Name"), "R");
  await reach(dialog.getByLabel("Category"), "7");
  await reach(button(dialog, "Add"), "Enter");
  await reach(tab(page, "All 1"), "ArrowRight");
  await page.getByRole("tab", { name: "Available", selected: true }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("tab", { name: "All", selected: true }).waitFor();
  await reach(linkOf(page, "R"), "ArrowRight");
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  await page.getByText("No animals yet").waitFor();
  assertEquals(rings.size, 1, [...rings].join());
});
