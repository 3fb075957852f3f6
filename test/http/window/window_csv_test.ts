/** CSV in the window: imports that can be repeated, and exports that they read. */

import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { OTHER_HOST, type Page, testInBrowser } from "../../support/chromium.ts";
import { fillStore } from "../../support/fill_store.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { until } from "../../support/until.ts";
import {
  button,
  enterKey,
  expectAccessible,
  press,
  row,
  tab,
} from "../../support/window_controls.ts";

const LINES = 2_000;

testInBrowser(
  "an import shows what it will do, adds the animals, and reports lines that failed",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    network.fetch = async (request) => {
      const isBad = request.method === "POST" && (await request.clone().text()).includes("Bad");
      if (!isBad) return await service.fetch(request);
      const message = 'Field "categoryId" is out of fashion';
      return Response.json({ code: "invalid_body", status: 400, message }, { status: 400 });
    };
    const text = 'Status;NAME;Colour;Category\r\nSold;"Rex; ""the dog""";brown;7\r\n' +
      ";Mia;;x\r\nlost;Zoe;;8\r\n;Bad;;9\r\n;Max;;9223372036854775807\r\n";
    await choose(page, text);
    await dialog.getByText("Colour → left out").waitFor();
    await dialog.getByText("NAME → Name").waitFor();
    await dialog.locator("table").getByText('Rex; "the dog"').waitFor();
    await dialog.getByText("Line 3 Category must be a whole number").waitFor();
    await dialog.getByText("Line 4 Status must be one of").waitFor();
    assertEquals(await service.listIds(), []);
    await expectAccessible(page, "preview");
    await press(dialog, "Import 3 animals");
    await dialog.getByText("2 animals were added.").waitFor();
    await dialog.getByText("1 line failed").waitFor();
    await dialog.getByText("Line 5 Category is out of fashion").waitFor();
    await dialog.getByText("2 lines were left out").waitFor();
    await expectAccessible(page, "report");
    await press(dialog, "Done");
    await row(page, 'Rex; "the dog"').waitFor();
    await row(page, "Max").filter({ hasText: "9223372036854775807" }).waitFor();
    await choose(page, "Rex,7\n");
    await dialog.getByText(/names no column "Name"/).waitFor();
  },
);

testInBrowser(
  "an import of 2,000 lines under a rate limit, killed and repeated, adds each line once",
  async ({ open }) => {
    await using temp = await TempStore.make();
    const token = await fillStore(temp.kvPath, 0);
    await using service = await ServiceProcess.start(temp.kvPath, { RATE_LIMIT: "200" });
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
      await press(page.getByRole("dialog"), "Import 2,000 animals");
      return page;
    };
    const killed = await start();
    await until(async () => assertGreater(await total(), LINES / 2));
    await killed.close();
    await until(async () => assertLess(await total(), LINES));
    for (
      const outcome of [
        /here already, from an earlier import/,
        /^0 animals were added. 2,000 animals were here already/,
      ]
    ) {
      const page = await start();
      await page.getByRole("dialog").getByText(outcome).waitFor({ timeout: 60_000 });
      await until(async () => assertEquals(await total(), LINES));
      await page.close();
    }
    // The limit refuses some of these requests.
    const send = (path: string) =>
      until(async () => {
        const response = await service.send(path, token);
        if (response.ok) return response;
        await response.body?.cancel();
        return false;
      });
    const names = new Set(await namesOf(send));
    assertEquals(names.size, LINES);
  },
);

testInBrowser(
  "an import that is stopped says so, and sends 64 lines at a time",
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
    // HTTP/1.1 has six connections to a host.
    await until(() => assertGreater(active, 3));
    await press(dialog, "Stop");
    gate.resolve();
    await page.getByText(/^The import was stopped/).waitFor();
    assertLess((await service.listIds("limit=100")).length, 65);
    assertLess(most, 65);
  },
);

testInBrowser(
  "an export has all pages of the list that is shown, and an import reads it",
  async ({ service, open }) => {
    const names = ["=1+1", 'a "b", c', "Zoë\n2", "'@x", "  "];
    for (const name of names) await service.add({ name, categoryId: 7, status: "sold" });
    for (let count = 0; count < 240; count++) {
      await service.add({ name: `Pet ${count}`, categoryId: count % 2 ? 7 : 8, status: "sold" });
    }
    const page = await open(`/window?status=sold&categoryId=7#key=${service.token}`);
    await row(page, "Pet 239").waitFor();
    const downloading = page.waitForEvent("download");
    await press(page, "Export");
    const download = await downloading;
    assertEquals(download.suggestedFilename(), "animals.csv");
    const text = await Deno.readTextFile(await download.path());
    assertEquals(text.match(/^\ufeffname,categoryId,status,id\r\n/)?.length, 1);
    assert(text.includes("\n'=1+1,7,sold,1\r\n"));
    await page.getByText("125 animals were exported").waitFor();
    for (let id = 1; id <= names.length + 240; id++) await service.remove(id);
    await choose(page, text);
    await press(page.getByRole("dialog"), "Import 125 animals");
    await page.getByText("125 animals were added.").waitFor();
    const imported = await namesOf(service.send);
    assertEquals(imported.length, 125);
    for (const name of names) assert(imported.includes(name), name);
  },
);

testInBrowser(
  "a page without a safe origin says why it cannot import",
  async ({ service, address, open }) => {
    const other = new URL(address);
    other.hostname = OTHER_HOST;
    const page = await open("/window", { address: other.href });
    await enterKey(page, service.token);
    await tab(page, "All 0").waitFor();
    await press(page, "Import");
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/only over https or on localhost/).waitFor();
    assert(await dialog.getByLabel("File").isDisabled());
    assertEquals(await button(dialog, /^Import/).count(), 0);
  },
);

/** Opens the dialog and chooses a file with this text. */
async function choose(page: Page, text: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  if (!await dialog.isVisible()) await press(page, "Import");
  const { Buffer } = await import("node:buffer");
  const file = { name: "animals.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  await dialog.getByLabel("File").setInputFiles(file);
}

/** The names of all animals. */
async function namesOf(send: (path: string) => Promise<Response | false>): Promise<string[]> {
  const names: string[] = [];
  let path: string | undefined = "/v1/pets?limit=100";
  while (path !== undefined) {
    const response = await send(path);
    assert(response);
    for (const { name } of await response.json()) names.push(name);
    path = /(\/v1\/[^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return names;
}
