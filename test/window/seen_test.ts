/** The page shows at once that a write found another state, even if the stream is late or silent. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import type { FetchHandler } from "../support/fetch_from.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import {
  button,
  enterKey,
  fill,
  linkOf,
  pickStatus,
  press,
  row,
  signOut,
  statusOf,
  statusText,
  tab,
  toast,
} from "../support/window_controls.ts";

/** A stream that stays open, and brings nothing. */
const silentStream = (next: FetchHandler): FetchHandler => (request) => {
  if (request.headers.get("accept") !== "text/event-stream") return next(request);
  const headers = { "content-type": "text/event-stream" };
  return Promise.resolve(new Response(new ReadableStream(), { headers }));
};

testInBrowser(
  "an Undo that somebody else came before shows the animal as it is now, without an event",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    network.fetch = silentStream(service.fetch);
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await pickStatus(page, "Rex", "Sold");
    await toast(page, "Rex was sold").waitFor();
    await service.change(1, { status: "pending" });
    await press(toast(page, "Rex was sold"), "Undo");
    await dialog.getByText("Somebody else changed it meanwhile").waitFor();
    await press(dialog, "Close");
    await expectSoon(() => statusText(page, "Rex"), "Pending");
    // The same on the page of the animal.
    await linkOf(page, "Rex").click();
    await page.getByRole("article").getByText("by you").first().waitFor();
    await service.change(1, { status: "available" });
    await pickStatus(page, "Rex", "Sold");
    await press(dialog, "Keep theirs");
    await expectSoon(() => statusText(page, "Rex"), "Available");
    // Somebody else has made the same change.
    await service.change(1, { status: "pending" });
    await pickStatus(page, "Rex", "Pending");
    await press(dialog, "Change anyway");
    await toast(page, "Rex was like this already").waitFor();
    assertEquals(await button(page, "Undo").count(), 0);
  },
);

testInBrowser(
  "a change of an animal that somebody else has removed ends its row, without an event",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.add({ name: "Mia", categoryId: 7 });
    network.fetch = silentStream(service.fetch);
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Mia").waitFor();
    await service.remove(1);
    await pickStatus(page, "Rex", "Sold");
    await page.getByRole("alert").filter({ hasText: "Rex: It was removed by somebody else" })
      .waitFor();
    await row(page, "Rex").waitFor({ state: "hidden" });
  },
);

/** Responses to writes that arrive only when the test says so, however early the service has written. */
function lateResponses(next: FetchHandler) {
  const isWritten = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const fetch: FetchHandler = async (request) => {
    const response = await next(request);
    if (request.method === "GET") return response;
    isWritten.resolve();
    await gate.promise;
    return response;
  };
  return { fetch, isWritten: isWritten.promise, arrive: gate.resolve };
}

testInBrowser(
  "a late response brings back no animal that somebody else has removed since, and no older fields",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    await service.add({ name: "Max", categoryId: 7 });
    const page = await open(`/window?status=sold&animal=1#key=${service.token}`);
    await page.locator(".history li").first().waitFor();
    // Somebody else takes the change back.
    let late = lateResponses(service.fetch);
    network.fetch = late.fetch;
    await pickStatus(page, "Rex", "Pending");
    await late.isWritten;
    await service.change(1, { status: "available" });
    await expectSoon(() => page.locator(".history li").count(), 3);
    late.arrive();
    await toast(page, "Rex became pending").waitFor();
    await expectSoon(() => statusText(page, "Rex"), "Available");
    // The list of sold animals has had it meanwhile.
    late = lateResponses(service.fetch);
    network.fetch = late.fetch;
    await pickStatus(page, "Rex", "Sold");
    await late.isWritten;
    await service.remove(1);
    await page.getByText("This animal was removed.").waitFor();
    late.arrive();
    await toast(page, "Rex was sold").waitFor();
    await page.getByRole("link", { name: "All animals" }).click();
    await tab(page, "Sold 0").waitFor();
    assertEquals(await row(page, "Rex").count(), 0);
    // The same after an addition, and after one that undoes a removal.
    await tab(page, "All 1").click();
    late = lateResponses(service.fetch);
    network.fetch = late.fetch;
    await press(page, "Add an animal");
    await fill(page.getByRole("dialog"), "Mia", "7");
    await press(page.getByRole("dialog"), "Add");
    await late.isWritten;
    await row(page, "Mia").waitFor();
    await service.remove(3);
    await row(page, "Mia").waitFor({ state: "hidden" });
    late.arrive();
    await toast(page, "Mia was added").waitFor();
    assertEquals(await row(page, "Mia").count(), 0);
    network.fetch = service.fetch;
    await service.add({ name: "Zoe", categoryId: 7 });
    await press(page, "Remove Zoe");
    await toast(page, "Zoe was removed").waitFor();
    late = lateResponses(service.fetch);
    network.fetch = late.fetch;
    await press(page, "Undo");
    await late.isWritten;
    await row(page, "Zoe").waitFor();
    await service.remove(4);
    await row(page, "Zoe").waitFor({ state: "hidden" });
    late.arrive();
    await toast(page, "Undone: Zoe is back").waitFor();
    assertEquals(await row(page, "Zoe").count(), 0);
  },
);

testInBrowser(
  "two people add a category at the same time: each gets one of its own",
  async ({ service, network, open }) => {
    network.fetch = silentStream(service.fetch);
    const page = await open(`/window?page=categories#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await press(page, "Add a category");
    await dialog.getByLabel("Name").fill("Cats");
    await service.nameCategory(1n, "Dogs");
    await press(dialog, "Add");
    await dialog.waitFor({ state: "hidden" });
    await button(page, "Rename Cats").waitFor();
    assertEquals(await service.listCategories(), [
      { id: 1n, name: "Dogs" },
      { id: 2n, name: "Cats" },
    ]);
  },
);

testInBrowser(
  "a store at another path of the same host has a key of its own in the browser",
  async ({ service, open }) => {
    const page = await open("/window");
    const OTHER = "apiKey /other/window";
    await page.evaluate(`localStorage["${OTHER}"] = "key of another store"`);
    await page.reload();
    await page.getByLabel("Access key").waitFor();
    await enterKey(page, service.token);
    await page.getByText("No animals yet").waitFor();
    const keys = () => page.evaluate("Object.keys(localStorage).sort()");
    await expectSoon(() => keys(), [OTHER, "apiKey /shop/window", "lastUse /shop/window"]);
    await signOut(page);
    await page.getByLabel("Access key").waitFor();
    await expectSoon(() => keys(), [OTHER]);
  },
);

/** It runs in the page. */
const borderStyle = (it: Page) => (globalThis as Page).getComputedStyle(it).borderStyle;

testInBrowser(
  "a change that waits for the connection says so in its pill and in the header",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    network.fetch = (request) => {
      if (request.method === "GET") return service.fetch(request);
      return Promise.resolve(Response.json({ message: "It is away" }, { status: 503 }));
    };
    await pickStatus(page, "Rex", "Sold");
    await page.getByRole("status").filter({ hasText: "1 change waits to be saved" }).waitFor();
    const pill = statusOf(page, "Rex");
    await expectSoon(() => pill.evaluate(borderStyle), "dashed");
    network.fetch = service.fetch;
    await toast(page, "Rex was sold").waitFor();
    await page.getByRole("status").filter({ hasText: "waits" }).waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "a conflict names the key of who has changed the animal, as soon as the page knows it",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const { token } = await issueApiKey(service, { label: "Anna" });
    const anna = { authorization: `Bearer ${token}` };
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    // A form that is open.
    await press(page, "Edit Rex");
    await dialog.getByLabel("Name").fill("My Rex");
    await service.change(1, { status: "pending" }, anna);
    await dialog.getByText("Anna changed this animal. It is now Rex").waitFor();
    await press(dialog, "Save");
    await press(dialog, "Change anyway");
    await row(page, "My Rex").waitFor();
    // An event that comes after the response.
    let rival: (() => Promise<Response>) | undefined;
    network.fetch = async (request) => {
      if (request.method !== "GET") {
        await rival?.();
        rival = undefined;
      }
      return await service.fetch(request);
    };
    rival = () => service.change(2, { status: "sold" }, anna);
    await pickStatus(page, "Mia", "Pending");
    await dialog.getByRole("heading", { name: "Anna changed this animal" }).waitFor();
    await press(dialog, "Keep theirs");
    // The reader's own key, which a colleague may have, is somebody else.
    rival = () => service.change(2, { status: "available" });
    await pickStatus(page, "Mia", "Pending");
    await dialog.getByRole("heading", { name: "Somebody else changed this animal" }).waitFor();
  },
);
