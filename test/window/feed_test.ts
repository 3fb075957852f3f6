/** The stream of events: renewed when it ends, and safe with events that the page does not know. */

import { assert, assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  happened,
  linkOf,
  press,
  row,
  showActivity,
  showListAgain,
  tab,
} from "../support/window_controls.ts";

testInBrowser("a stream that the server ends is renewed", async ({ service, network, open }) => {
  let streams = 0;
  let end = () => {};
  network.fetch = async (request) => {
    const response = await service.fetch(request);
    if (request.headers.get("accept") !== "text/event-stream") return response;
    streams++;
    const reader = response.body!.getReader();
    const ended = Promise.withResolvers<{ done: true; value: undefined }>();
    end = () => ended.resolve({ done: true, value: undefined });
    const body = new ReadableStream({
      async pull(controller) {
        const { done, value } = await Promise.race([reader.read(), ended.promise]);
        if (!done) return controller.enqueue(value);
        controller.close();
        await reader.cancel();
      },
      cancel: () => reader.cancel(),
    });
    return new Response(body, response);
  };
  const page = await open(`/window#key=${service.token}`);
  for (const [count, name] of ["Rex", "Mia", "Zoe"].entries()) {
    await expectSoon(() => streams, count + 1);
    await service.add({ name, categoryId: 7 });
    await row(page, name).waitFor();
    end();
  }
  await tab(page, "All 3").waitFor();
  await page.getByText("Connected").waitFor();
});

testInBrowser(
  "events of unknown types are shown as changed, and break nothing",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const time = new Date().toISOString();
    const unknown = [
      { type: "CategoryMerged", subject: "categories/7", data: { id: 7, into: 8 } },
      { type: "PetReserved", subject: "pets/1", data: { id: 1, by: "Ann" } },
      { type: "ShopClosed", subject: "shop/1", data: null },
    ];
    let isSent = false;
    const inBatches = (position: string) =>
      unknown.map((it, index) => ({ id: `${position}-${index}`, time, ...it }));
    network.fetch = async (request) => {
      const response = await service.fetch(request);
      const isStream = request.headers.get("accept") === "text/event-stream";
      if (isStream && !isSent) {
        isSent = true;
        // Another instance has changed the animal by events that only it knows.
        await service.change(1, { status: "sold" });
        const position = new URL(request.url).searchParams.get("lastEventId") ?? "";
        const lines = inBatches(position).map((it) => `data: ${JSON.stringify(it)}\n\n`);
        await response.body!.cancel();
        return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
      }
      if (request.url.includes("/pets/1/events")) {
        const events = await response.json();
        return Response.json([...inBatches(events[0].id), ...events]);
      }
      return response;
    };
    const page = await open(`/window?page=activity#key=${service.token}`);
    await happened(page, "Category 7 was changed").waitFor();
    await happened(page, "Animal 1 was changed").waitFor();
    await happened(page, "shop 1 was changed").waitFor();
    assert(!/NaN|undefined/.test(await page.locator("body").innerText()));
    await showListAgain(page);
    await row(page, "Rex").filter({ hasText: "Sold" }).waitFor();
    assert(!/NaN|undefined/.test(await page.locator("body").innerText()));
    await linkOf(page, "Rex").click();
    await page.getByText("Changed", { exact: true }).first().waitFor();
    await page.getByText("Loading …").waitFor({ state: "hidden" });
    assert(!/NaN|undefined/.test(await page.locator("body").innerText()));
  },
);

testInBrowser(
  "runs of events are one sentence with a relative time, and names link to the pages of animals, also of removed ones",
  async ({ service, open }) => {
    for (let id = 1; id <= 20; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    await service.remove(3);
    for (const id of [4, 5, 6]) await service.change(id, { status: "sold" });
    await service.change(7, { name: " \u200b" });
    // An Undo gives each animal its own status back.
    const statuses = ["sold", "pending", "available"];
    await Promise.all(statuses.map((status, place) => service.change(8 + place, { status })));
    await service.add({ name: "مرحبا!", categoryId: 7 });
    const page = await open(`/window?page=activity#key=${service.token}`);
    const lines = page.locator("ol.events li");
    await expectSoon(async () => {
      const sentences = await lines.locator(".sentence").allTextContents();
      return sentences.map((text: string) => text.trim());
    }, [
      "مرحبا! was added",
      "3 animals got another status",
      "Pet 7 was renamed (blank name)",
      "3 animals were sold",
      "Pet 3 was removed",
      "20 animals were added",
    ]);
    await expectSoon(() => lines.locator("time").allTextContents(), Array(6).fill("just now"));
    // A name does not change the direction of the text around it.
    await expectSoon(() => lines.first().locator("bdi").textContent(), "مرحبا!");
    await expectSoon(() => lines.getByRole("link").allInnerTexts(), ["مرحبا!", "Pet 7", "Pet 3"]);
    await lines.getByRole("link", { name: "مرحبا!" }).click();
    await page.getByRole("heading", { name: "مرحبا!" }).waitFor();
    await page.goBack();
    // A name of white space can be clicked.
    await lines.getByRole("link", { name: "Pet 7" }).click();
    await page.getByRole("heading", { name: "(blank name)" }).waitFor();
    await showListAgain(page);
    await linkOf(page, "(blank name)").click();
    await page.getByRole("heading", { name: "(blank name)" }).waitFor();
  },
);

testInBrowser(
  "a reload without a connection states nothing, and says that the page tries again",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    const isOfPage = (request: Request) => !new URL(request.url).pathname.startsWith("/v1/");
    network.fetch = async (request) => {
      if (isOfPage(request)) return await service.fetch(request);
      return Response.json({ message: "It is away" }, { status: 503 });
    };
    await page.reload();
    await page.getByRole("tabpanel").getByText("It is away. Trying again …").waitFor();
    assertEquals(await page.getByText(/Loading …|\b0\b/).count(), 0);
    await showActivity(page);
    await page.getByRole("article").getByText("It is away. Trying again …").waitFor();
    assertEquals(await page.getByText(/Loading …|Nothing has happened/).count(), 0);
    network.fetch = service.fetch;
    await happened(page, "Rex was added").waitFor();
    await showListAgain(page);
    await row(page, "Rex").waitFor();
  },
);

testInBrowser(
  "the page reads the last hundred events when somebody opens their page, and follows them",
  async ({ service, network, open }) => {
    const reads: string[] = [];
    network.fetch = async (request) => {
      const isBatch = request.headers.get("accept") !== "text/event-stream";
      if (isBatch && request.url.includes("/v1/events")) reads.push(request.url);
      return await service.fetch(request);
    };
    for (let id = 1; id <= 120; id++) await service.add({ name: `Pet ${id}`, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await tab(page, "All 120").waitFor();
    assertEquals(reads, []);
    await showActivity(page);
    const sentences = page.getByRole("article").locator(".sentence");
    const check = (expected: string[]) => expectSoon(() => sentences.allTextContents(), expected);
    // It does not know how many there were before the hundred.
    await check(["At least 100 animals were added"]);
    await service.remove(120);
    await check(["Pet 120 was removed", "At least 100 animals were added"]);
    await showListAgain(page);
    for (let id = 1; id <= 50; id++) await service.change(id, { status: "sold" });
    await tab(page, "Sold 50").waitFor();
    await showActivity(page);
    const newer = ["50 animals were sold", "Pet 120 was removed"];
    await check([...newer, "At least 100 animals were added"]);
    assertEquals(reads.length, 1);
    await press(page, "Show older");
    await check([...newer, "120 animals were added"]);
    await button(page, "Show older").waitFor({ state: "hidden" });
    assertEquals(reads.length, 2);
  },
);

testInBrowser(
  "a store in which nothing has happened says so, but not if the read fails",
  async ({ service, network, open }) => {
    let isRefused = true;
    network.fetch = async (request) => {
      const isRead = request.url.includes("lastEventId=now");
      if (!isRead || !isRefused) return await service.fetch(request);
      return Response.json({ status: 400, message: "It fails" }, { status: 400 });
    };
    const page = await open(`/window?page=activity#key=${service.token}`);
    await page.getByRole("alert").filter({ hasText: "It fails" }).waitFor();
    assertEquals(await page.getByText(/Nothing has happened|Loading …/).count(), 0);
    isRefused = false;
    await press(page, "Try again");
    await page.getByText("Nothing has happened yet.").waitFor();
  },
);

testInBrowser("an event with long names is told to its end", async ({ service, open }) => {
  const long = (name: string) => `${name} ${"von und zu Hohenlohe ".repeat(20)}`.trim();
  await service.nameCategory(8n, long("Rabbits").slice(0, 60));
  await service.add({ name: long("Rex"), categoryId: 7 });
  await service.change(1, { name: long("Max"), categoryId: 8, status: "sold" });
  const page = await open(`/window?page=activity#key=${service.token}`);
  const sentence = page.locator(".sentence").filter({ hasText: "moved to" });
  await sentence.filter({ hasText: /and was sold$/ }).waitFor();
  const height = await sentence.evaluate((it: Page) => it.scrollHeight - it.clientHeight);
  assertEquals(height, 0);
});
