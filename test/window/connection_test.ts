/** What the page does while the service, the network or the clock of the computer fails. */

import { assertEquals } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { until } from "../support/until.ts";
import {
  enterKey,
  fill,
  happened,
  pickStatus,
  press,
  row,
  tab,
  toast,
} from "../support/window_controls.ts";

const isStream = (request: Request) => request.headers.get("accept") === "text/event-stream";

/** A response whose connection ends after the first bytes of its body. */
function brokenOff(): Response {
  const body = new Blob(["["]).stream();
  return new Response(body, { headers: { "content-length": "100" } });
}

testInBrowser(
  "a response that breaks off is asked for again, and a change is done once",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const broken: string[] = [];
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      const isData = request.url.includes("/v1/pets") && !isStream(request);
      if (!isData || broken.includes(request.method)) return response;
      broken.push(request.method);
      return brokenOff();
    };
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    await press(page, "Add an animal");
    await fill(page.getByRole("dialog"), "Mia", "7");
    await press(page.getByRole("dialog"), "Add");
    await row(page, "Mia").waitFor();
    assertEquals(broken, ["GET", "POST"]);
    assertEquals(await service.listIds(), [2, 1]);
  },
);

testInBrowser(
  "a stream that gets no headers is given up, and the next one brings what has happened",
  async ({ service, network, open }) => {
    let streams = 0;
    network.fetch = async (request) => {
      const isFirst = isStream(request) && streams++ === 0;
      return isFirst ? await new Promise(() => {}) : await service.fetch(request);
    };
    const page = await open("/window");
    await page.clock.install();
    await enterKey(page, service.token);
    await page.getByText("No animals yet").waitFor();
    await until(() => streams === 1);
    await service.add({ name: "Rex", categoryId: 7 });
    await page.clock.fastForward(61_000);
    await row(page, "Rex").waitFor();
  },
);

testInBrowser(
  "the time limit of a request begins when the key is there",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    await page.clock.install();
    const { token } = await issueApiKey(service, { label: "new" });
    await revokeApiKey(service, service.keyId);
    await pickStatus(page, "Rex", "Sold");
    await page.getByText(/access key is .*revoked/).waitFor();
    await page.clock.fastForward(90_000);
    // A request that is repeated would wait for ever.
    await page.clock.pauseAt(Date.now() + 200_000);
    await enterKey(page.getByRole("dialog"), token);
    await toast(page, "Rex was sold").waitFor();
  },
);

testInBrowser(
  "what waits is sent when the browser is online again, and the page says Connected when it is saved",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const header = page.getByRole("banner");
    await row(page, "Rex").waitFor();
    let isSaved = true;
    network.fetch = (request) => {
      if (request.method === "GET" || isSaved) return service.fetch(request);
      return Promise.resolve(Response.json({ message: "It is away" }, { status: 503 }));
    };
    isSaved = false;
    await pickStatus(page, "Rex", "Sold");
    await header.getByText("It is away. Trying again … 1 change waits to be saved.").waitFor();
    // Reads have responses, but the change has none.
    await service.add({ name: "Mia", categoryId: 7 });
    await row(page, "Mia").waitFor();
    await tab(page, "All 2").waitFor();
    assertEquals(await header.getByText("Connected").count(), 0);
    await page.context().setOffline(true);
    await header.getByText(/^Connection lost/).waitFor();
    isSaved = true;
    // No pause ends any more.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.context().setOffline(false);
    await toast(page, "Rex was sold").waitFor();
    await header.getByText("Connected").waitFor();
  },
);

testInBrowser(
  "times follow the clock of the service, if that of the computer is days off",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open("/window");
    await page.getByLabel("Stay signed in").check();
    await enterKey(page, service.token);
    await row(page, "Rex").waitFor();
    for (const days of [-3, 3]) {
      await page.clock.setFixedTime(Date.now() + days * 86_400_000);
      await page.goto(new URL("window?page=activity", page.url()).href);
      await happened(page, "Rex was added").waitFor();
      await expectSoon(() => page.locator(".events time").allTextContents(), ["just now"]);
    }
  },
);

testInBrowser(
  "a page without a connection says so at once, although nobody touches it",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const header = page.getByRole("banner");
    await row(page, "Rex").waitFor();
    await header.getByText("Connected").waitFor();
    // No time passes in which a silent stream is given up.
    await page.clock.install();
    await page.context().setOffline(true);
    await header.getByText(/^Connection lost/).waitFor();
    await page.context().setOffline(false);
    await header.getByText("Connected").waitFor();
  },
);
