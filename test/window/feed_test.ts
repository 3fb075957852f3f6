/** The stream of events: renewed when it ends, and safe with events that the page does not know. */

import { assert } from "@std/assert";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { happened, linkOf, row, tab } from "../support/window_controls.ts";

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
    const page = await open(`/window#key=${service.token}`);
    // The position of an invented event is none, so the stream after it has another one.
    await happened(page, "Category 7 was changed").waitFor();
    await happened(page, "Animal 1 was changed").waitFor();
    await happened(page, "shop 1 was changed").waitFor();
    await row(page, "Rex").filter({ hasText: "Sold" }).waitFor();
    assert(!/NaN|undefined/.test(await page.locator("body").innerText()));
    await linkOf(page, "Rex").click();
    await page.getByText("Changed", { exact: true }).first().waitFor();
    await page.getByText("Loading …").waitFor({ state: "hidden" });
    assert(!/NaN|undefined/.test(await page.locator("body").innerText()));
  },
);
